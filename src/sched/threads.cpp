// SPDX-License-Identifier: Apache-2.0
// Kernel threads behind workers.
#include "base/config.h"
#include "base/message.h"
#include "base/spin.h"
#include "sched/client.h"
#include "sched/exceptions.h"
#include "sched/processors.h"
#include "sched/worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace sennit::sched {
namespace {

constexpr int kMostWorkers = 1 << 16;
std::atomic<Worker *> g_workers[kMostWorkers];
std::atomic<int> g_count{0};
SpinLock g_pool_lock;
Worker *g_pool = nullptr;       // threads of ours without work
Worker *g_abandoned = nullptr;  // workers of user threads that have ended
Worker *g_threadless = nullptr; // workers of ours whose threads have ended, or were refused
std::atomic<int> g_threads{0};  // of ours
int g_retirements = 0;          // calls of retire_threads; under g_pool_lock
pthread_key_t g_exit_key;
constexpr int kMostAtThreadEnd = 4;
std::atomic<void (*)(Worker &)> g_at_thread_end[kMostAtThreadEnd];

ExceptionGlobals g_exception_globals = nullptr;

// Threads of ours at most: regions in many suspended tasks ask for as many, and what nobody has
// left, memory for the program's own use, has nothing to fall back on. Their stacks, of two
// mappings each, take a third of those that the process may have; and the program's own threads
// find a worker, too.
int most_threads() {
    constexpr std::uint64_t kMappingsPerThread = 2;
    constexpr std::uint64_t kForProgram = 4096;
    static const auto most = static_cast<int>(std::min<std::uint64_t>(
        fiber::most_mappings() / 3 / kMappingsPerThread, kMostWorkers - kForProgram));
    return most;
}

void say_no_thread(const char *why) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
        warn("cannot make another thread (%s): parallel regions get fewer threads than they ask "
             "for; raise 'ulimit -u' or lower OMP_NUM_THREADS or OMP_STACKSIZE",
             why);
}

} // namespace

int Worker::count() {
    return g_count.load(std::memory_order_acquire);
}
Worker *Worker::by_id(int id) {
    return g_workers[id].load(std::memory_order_acquire);
}

void at_thread_end(void (*function)(Worker &worker)) {
    for (auto &place : g_at_thread_end) {
        void (*expected)(Worker &) = nullptr;
        if (place.compare_exchange_strong(expected, function, std::memory_order_acq_rel) ||
            expected == function)
            return;
    }
    fatal("too many functions for the end of a thread (at most %d)", kMostAtThreadEnd);
}

// The parts of Worker that deal with kernel threads.
struct WorkerThreads {
    static void *thread_main(void *argument) {
        auto &worker = *static_cast<Worker *>(argument);
        settle(worker);
        g_pool_lock.lock();
        worker.born_ = g_retirements;
        g_pool_lock.unlock();
        const Wait unemployed{WaitFor::nobody, nullptr};
        for (;;) {
            if (observed::by(observed::kTrace) && worker.pooled_)
                client().waits(worker, unemployed, true);
            while (worker.mail_.load(std::memory_order_acquire) == 0)
                futex_wait(worker.mail_, 0);
            if (observed::by(observed::kTrace) && worker.pooled_)
                client().waits(worker, unemployed, false);
            worker.mail_.store(0, std::memory_order_relaxed);
            worker.pooled_ = false;
            if (worker.main_)
                worker.main_(worker.main_arg_);
            if (!worker.pooled_)
                worker.join_pool();
            if (!worker.pooled_)
                break;
        }
        Worker::t_self_ = nullptr; // the next thread may have the worker at once
        g_threads.fetch_sub(1, std::memory_order_relaxed);
        put(worker, g_threadless);
        return nullptr;
    }

    // Threads without work end now, those that have some when it is done.
    static void retire_threads() {
        g_pool_lock.lock();
        Worker *idle = g_pool;
        g_pool = nullptr;
        ++g_retirements;
        g_pool_lock.unlock();
        while (idle) {
            Worker *next = idle->pool_next_;
            deliver(*idle, nullptr, nullptr);
            idle = next;
        }
    }

    // On the worker's own thread: everything that is per kernel thread.
    static void settle(Worker &worker) {
        worker.thread_ = pthread_self();
        worker.thread_id_.store(gettid(), std::memory_order_relaxed);
        fiber::adopt_thread(worker.root_.context);
        worker.root_.home = &worker;
        worker.root_.state.restart(FiberState::running);
        worker.current_.store(&worker.root_, std::memory_order_relaxed);
        worker.exception_globals_ = g_exception_globals ? g_exception_globals() : nullptr;
        Worker::t_self_ = &worker;
    }

    static void deliver(Worker &worker, void (*main)(void *), void *arg) {
        worker.main_ = main;
        worker.main_arg_ = arg;
        worker.mail_.store(1, std::memory_order_release);
        futex_wake(worker.mail_);
    }

    static bool create_thread(Worker &worker) {
        if (g_threads.fetch_add(1, std::memory_order_relaxed) >= most_threads()) {
            g_threads.fetch_sub(1, std::memory_order_relaxed);
            say_no_thread("there are too many for the mappings of vm.max_map_count");
            return false;
        }
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        const size_t size = fiber::stack_size();
        pthread_attr_setstacksize(&attributes, size);
        pthread_t thread;
        const int error = pthread_create(&thread, &attributes, thread_main, &worker);
        pthread_attr_destroy(&attributes);
        if (error != 0) {
            g_threads.fetch_sub(1, std::memory_order_relaxed);
            say_no_thread(std::strerror(error));
        }
        return error == 0;
    }

    // A user's thread ends: keep its worker for the next one, as if that was new. Not when the
    // thread ends in the middle of a region or a task: its fibers must never run on another thread.
    static void thread_exit(void *argument) {
        auto &worker = *static_cast<Worker *>(argument);
        for (const auto &place : g_at_thread_end)
            if (const auto function = place.load(std::memory_order_acquire))
                function(worker);
        Worker::t_self_ = nullptr;
        const bool reusable = worker.abandon();
        worker.away_.store(true, std::memory_order_relaxed);
        if (reusable)
            put(worker, g_abandoned);
    }

    static void put(Worker &worker, Worker *&list) {
        g_pool_lock.lock();
        worker.pool_next_ = list;
        list = &worker;
        g_pool_lock.unlock();
    }

    static Worker *take(Worker *&list) {
        g_pool_lock.lock();
        Worker *worker = list;
        if (worker)
            list = worker->pool_next_;
        g_pool_lock.unlock();
        return worker;
    }
};

Worker *Worker::make() {
    void *memory = std::aligned_alloc(alignof(Worker), sizeof(Worker));
    if (!memory)
        fatal("no memory for a thread's descriptor (%zu bytes)", sizeof(Worker));
    auto *worker = new (memory) Worker;
    worker->id_ = g_count.fetch_add(1, std::memory_order_acq_rel);
    if (worker->id_ >= kMostWorkers)
        fatal("more than %d threads use OpenMP: lower OMP_NUM_THREADS", kMostWorkers);
    g_workers[worker->id_].store(worker, std::memory_order_release);
    return worker;
}

Worker &Worker::adopt() {
    Worker *worker = WorkerThreads::take(g_abandoned);
    if (!worker)
        worker = make();
    WorkerThreads::settle(*worker);
    worker->away_.store(worker->slots_ == nullptr, std::memory_order_relaxed);
    pthread_setspecific(g_exit_key, worker);
    return *worker;
}

void Worker::join_pool() {
    g_pool_lock.lock();
    pooled_ = born_ == g_retirements; // else the thread ends when its main returns
    if (pooled_) {
        pool_next_ = g_pool;
        g_pool = this;
    }
    g_pool_lock.unlock();
}

Worker *Worker::start(void (*main)(void *), void *arg) {
    Worker *worker = WorkerThreads::take(g_pool);
    if (!worker) {
        worker = WorkerThreads::take(g_threadless);
        if (!worker)
            worker = make();
        if (!WorkerThreads::create_thread(*worker)) {
            WorkerThreads::put(*worker, g_threadless);
            return nullptr;
        }
    }
    WorkerThreads::deliver(*worker, main, arg);
    return worker;
}

void Worker::retire_threads() {
    WorkerThreads::retire_threads();
}

void Worker::before_fork() {
    g_pool_lock.lock();
    poll::before_fork();
}

void Worker::after_fork() {
    poll::after_fork();
    g_pool_lock.unlock();
}

void Worker::after_fork_in_child() {
    after_fork();
    forget_others();
    // Only the calling thread lives on; all pooled threads are gone.
    g_pool = nullptr;
    g_threadless = nullptr;
    g_threads.store(0, std::memory_order_relaxed);
    for (const Worker &worker : all())
        if (&worker != t_self_)
            g_workers[worker.id()].store(nullptr, std::memory_order_relaxed);
    if (t_self_) {
        // A report of another thread may have been looking at it.
        new (&t_self_->fibers_lock_) SpinLock;
        new (&t_self_->event_lock) SpinLock;
        // The system calls its thread by another number.
        t_self_->thread_id_.store(gettid(), std::memory_order_relaxed);
        t_self_->each_fiber([](Fiber &fiber) { fiber.thread = gettid(); });
    }
    poll::after_fork_in_child();
}

void setup() {
    processors_setup();
    pthread_key_create(&g_exit_key, WorkerThreads::thread_exit);
    g_exception_globals = find_exception_globals();
}

} // namespace sennit::sched
