// SPDX-License-Identifier: Apache-2.0
// Kernel threads behind workers.
#include "base/assert.h"
#include "base/config.h"
#include "base/message.h"
#include "base/spin.h"
#include "ranks/fibers/processor_number.h"
#include "ranks/fibers/rank_fiber.h"
#include "tasks/sched/client.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sennit::sched {
namespace {

constexpr int kMostWorkers = 1 << 16;
constexpr int kMostAtThreadEnd = 4;

// Every worker by its number. They stay. Only a forked child forgets the workers whose threads it
// does not have.
class WorkerTable {
  public:
    int count() const { return count_.load(std::memory_order_acquire); }
    Worker *at(int id) const { return workers_[id].load(std::memory_order_acquire); }
    int take_number() { return count_.fetch_add(1, std::memory_order_acq_rel); }
    void put(Worker &worker) { workers_[worker.id()].store(&worker, std::memory_order_release); }
    void forget(const Worker &worker) {
        workers_[worker.id()].store(nullptr, std::memory_order_relaxed);
    }

  private:
    std::atomic<Worker *> workers_[kMostWorkers]; // null: there is none, or not yet
    std::atomic<int> count_{0};
};
constinit WorkerTable g_table{};

std::atomic<void (*)(Worker &)> g_at_thread_end[kMostAtThreadEnd];
std::atomic<void (*)(Worker &)> g_at_retirement{nullptr};

void say_retired(Worker &worker) {
    if (const auto function = g_at_retirement.load(std::memory_order_acquire))
        function(worker);
}

// How many threads of ours there are at most. Regions in many suspended tasks may ask for as many
// as there are tasks. Then nothing would be left for the program's own memory. The stacks of these
// threads, of two mappings each, take a third of the mappings that the process may have. The
// program's own threads still find a worker.
int most_threads() {
    constexpr std::uint64_t kMappingsPerThread = 2;
    constexpr std::uint64_t kForProgram = 4096;
    static const auto most = static_cast<int>(std::min<std::uint64_t>(
        fiber::most_mappings() / 3 / kMappingsPerThread, kMostWorkers - kForProgram));
    return most;
}

void say_no_thread(const char *why, const char *raise) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))
        warn("cannot make another thread (%s): parallel regions get fewer threads than they ask "
             "for; raise %s or lower OMP_NUM_THREADS or OMP_STACKSIZE",
             why, raise);
}

// libc has the same error for too many threads and for no memory for a stack.
bool has_memory(std::size_t size) {
    void *const memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    munmap(memory, size);
    return true;
}

} // namespace

int Worker::count() {
    return g_table.count();
}
Worker *Worker::by_id(int id) {
    return g_table.at(id);
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

void at_retirement(void (*function)(Worker &worker)) {
    g_at_retirement.store(function, std::memory_order_release);
}

// The kernel threads behind workers, and the workers that have none at the moment. One for the
// process.
//
// State           what                                                          touched by
//   pooled_       workers whose threads are ours and without work               under lock_
//   abandoned_    workers of the program's threads that have ended              under lock_
//   threadless_   workers of ours whose threads have ended, or were refused     under lock_
//   retirements_  how often retire() was called                                 under lock_
//   threads_      how many are ours, most_threads() at most                     any thread
//   the others    written by begin(), before a second thread is here            any thread
//
// Invariants: a worker is in one of the lists or in none, linked by its pool_next_. In a list it
// has no mail and no slot, and belongs to who takes it out. A thread joins the pool only if it was
// born after the last retirement; so those that retire() meets in it, and those that come back to
// it later, end.
struct WorkerThreads {
  public:
    void begin() {
        pthread_key_create(&exit_key_, thread_exit);
        exception_globals_ = find_exception_globals();
    }

    Worker &adopt() {
        Worker *worker = take(abandoned_);
        if (worker)
            g_table.put(*worker); // a forked child had forgotten it
        else
            worker = Worker::make();
        settle(*worker, 0);
        worker->away_.store(worker->slots_ == nullptr, std::memory_order_relaxed);
        pthread_setspecific(exit_key_, worker);
        return *worker;
    }

    Worker *hire(void (*main)(void *), void *arg, Worker::Begins begins) {
        Worker *worker = take(pooled_);
        if (!worker) {
            worker = take(threadless_);
            if (!worker)
                worker = Worker::make();
            if (!create_thread(*worker)) {
                put(*worker, threadless_);
                return nullptr;
            }
        }
        worker->main_ = main;
        worker->main_arg_ = arg;
        worker->main_begins_ = begins;
        return worker;
    }

    // What hire() has written is there. The kernel is called only for a thread that sleeps.
    static void begin_main(Worker &worker) {
        SENNIT_ASSERT(worker.mail_.load(std::memory_order_relaxed) != Worker::kMail);
        worker.away_.store(false, std::memory_order_relaxed); // it is on its way
        if (worker.mail_.exchange(Worker::kMail, std::memory_order_release) ==
            Worker::kWaitsForMail)
            futex_wake(worker.mail_);
    }

    // Called by the worker's own thread. If it does not join the pool, it ends when its main
    // returns.
    void join_pool(Worker &worker) {
        lock_.lock();
        worker.pooled_ = worker.born_ == retirements_;
        if (worker.pooled_)
            push(worker, pooled_);
        lock_.unlock();
    }

    // Threads without work end now. Threads that have some end when it is done.
    void retire() {
        lock_.lock();
        Worker *idle = pooled_;
        pooled_ = nullptr;
        ++retirements_;
        lock_.unlock();
        while (idle) {
            Worker *next = std::exchange(idle->pool_next_, nullptr);
            say_retired(*idle);
            idle->main_ = nullptr;
            begin_main(*idle);
            idle = next;
        }
        if (Worker *const self = Worker::self())
            say_retired(*self);
    }

    void before_fork() { lock_.lock(); }
    void after_fork() { lock_.unlock(); }
    // Only the calling thread is still there.
    void after_fork_in_child() {
        pooled_ = nullptr;
        threadless_ = nullptr;
        threads_.store(0, std::memory_order_relaxed);
    }

  private:
    static void *thread_main(void *worker);
    static void thread_exit(void *worker);

    // Called on the worker's own thread: all that is per kernel thread. `stack_size`: that of a
    // thread of ours; 0: a thread of the program.
    void settle(Worker &worker, std::size_t stack_size) const {
        worker.thread_ = pthread_self();
        worker.thread_id_.store(gettid(), std::memory_order_relaxed);
        worker.flow_.store(stack_size == 0 && gettid() == getpid() ? virt::own_fiber() : nullptr,
                           std::memory_order_relaxed);
        worker.fibers.adopt_thread(worker, stack_size,
                                   exception_globals_ ? exception_globals_() : nullptr);
        worker.attribution = {}; // of another thread's time
        Worker::t_self_ = &worker;
    }

    // In a rank of fibers a thread of ours is a fiber, too. But not in the child of a fork(), which
    // finds what its parent had.
    static void enter_flow(Worker &worker) {
        virt::RankFiber *const main = virt::main_flow();
        if (!main)
            return;
        virt::RankFiber *const own = main->calls->enter(*main, gettid());
        if (!own)
            return;
        worker.flow_.store(own, std::memory_order_release);
        virt::leave_processor_number();
    }

    static void leave_flow(Worker &worker) {
        if (virt::RankFiber *const own = worker.flow_.exchange(nullptr))
            own->calls->leave(*own);
    }

    void live(Worker &worker) {
        settle(worker, worker.fibers.root.context.stack_size); // see create_thread
        worker.seat.slice.put_right();
        enter_flow(worker);
        lock_.lock();
        worker.born_ = retirements_;
        lock_.unlock();
        const Wait unemployed{WaitFor::nobody, nullptr};
        for (;;) {
            if (observed::by(observed::kTrace) && worker.pooled_)
                client().waits(worker, unemployed, true);
            worker.seat.lend();
            wait_for_mail(worker);
            if (worker.main_begins_ == Worker::Begins::with_core)
                worker.seat.need();
            if (observed::by(observed::kTrace) && worker.pooled_)
                client().waits(worker, unemployed, false);
            worker.mail_.store(Worker::kNoMail, std::memory_order_relaxed);
            worker.away_.store(worker.slots_ == nullptr, std::memory_order_relaxed);
            worker.pooled_ = false;
            if (worker.main_)
                worker.main_(worker.main_arg_);
            if (!worker.pooled_)
                join_pool(worker);
            if (!worker.pooled_)
                break;
        }
        worker.seat.lend();
        leave_flow(worker);
        worker.seat.slice.forget();
        Worker::t_self_ = nullptr; // the next thread may have the worker at once
        say_retired(worker);
        threads_.fetch_sub(1, std::memory_order_relaxed);
        put(worker, threadless_);
    }

    // A user's thread ends. Keep its worker for the next one, as if it was new. But not if the
    // thread ends in the middle of a region or a task, for its fibers must never run on another
    // thread.
    void leave(Worker &worker) {
        for (const auto &place : g_at_thread_end)
            if (const auto function = place.load(std::memory_order_acquire))
                function(worker);
        worker.seat.lend();
        worker.seat.slice.forget();
        Worker::t_self_ = nullptr;
        const bool reusable = worker.abandon();
        worker.away_.store(true, std::memory_order_relaxed);
        if (reusable)
            put(worker, abandoned_);
    }

    static void wait_for_mail(Worker &worker) {
        std::uint32_t mail = Worker::kNoMail;
        worker.mail_.compare_exchange_strong(mail, Worker::kWaitsForMail,
                                             std::memory_order_relaxed);
        while (worker.mail_.load(std::memory_order_acquire) != Worker::kMail)
            futex_wait(worker.mail_, Worker::kWaitsForMail);
    }

    static int create_thread(Worker &worker, std::size_t stack_size) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, stack_size);
        worker.fibers.root.context.stack_size = stack_size;
        pthread_t thread;
        const int error = pthread_create(&thread, &attributes, thread_main, &worker);
        pthread_attr_destroy(&attributes);
        return error;
    }

    bool create_thread(Worker &worker) {
        if (threads_.fetch_add(1, std::memory_order_relaxed) >= most_threads()) {
            threads_.fetch_sub(1, std::memory_order_relaxed);
            say_no_thread("there are too many for their mappings", "vm.max_map_count");
            return false;
        }
        const Worker *const creator = Worker::self();
        worker.seat.slice.note_creator(creator ? &creator->seat.slice : nullptr);
        std::size_t size = fiber::thread_stack_size();
        int error = create_thread(worker, size);
        while (error != 0 && (size = fiber::smaller_stack(size)) != 0)
            error = create_thread(worker, size);
        size = worker.fibers.root.context.stack_size;
        if (error != 0) {
            threads_.fetch_sub(1, std::memory_order_relaxed);
            if (has_memory(size))
                say_no_thread(std::strerror(error), "'ulimit -u'");
            else
                say_no_thread("no memory for its stack", "'ulimit -v'");
        }
        return error == 0;
    }

    // Under lock_.
    static void push(Worker &worker, Worker *&list) {
        // Without work, and in no list.
        SENNIT_ASSERT(worker.mail_.load(std::memory_order_relaxed) != Worker::kMail &&
                      !worker.pool_next_);
        worker.pool_next_ = list;
        list = &worker;
    }

    void put(Worker &worker, Worker *&list) {
        lock_.lock();
        push(worker, list);
        lock_.unlock();
    }

    Worker *take(Worker *&list) {
        lock_.lock();
        Worker *worker = list;
        if (worker)
            list = std::exchange(worker->pool_next_, nullptr);
        lock_.unlock();
        return worker;
    }

    SpinLock lock_;
    Worker *pooled_ = nullptr;
    Worker *abandoned_ = nullptr;
    Worker *threadless_ = nullptr;
    int retirements_ = 0;
    std::atomic<int> threads_{0};
    pthread_key_t exit_key_ = 0;
    ExceptionGlobals exception_globals_ = nullptr;
};

namespace {
constinit WorkerThreads g_threads;
} // namespace

void *WorkerThreads::thread_main(void *worker) {
    g_threads.live(*static_cast<Worker *>(worker));
    return nullptr;
}

void WorkerThreads::thread_exit(void *worker) {
    g_threads.leave(*static_cast<Worker *>(worker));
}

Worker *Worker::make() {
    void *memory = std::aligned_alloc(alignof(Worker), sizeof(Worker));
    if (!memory)
        fatal("no memory for a thread's descriptor (%zu bytes)", sizeof(Worker));
    auto *worker = new (memory) Worker;
    worker->id_ = g_table.take_number();
    if (worker->id_ >= kMostWorkers)
        fatal("more than %d threads use OpenMP: lower OMP_NUM_THREADS", kMostWorkers);
    g_table.put(*worker);
    return worker;
}

// True: nothing of it is left, on a stack or in a list, that another thread could not take over.
// Fibers that wait for work end here, too.
bool Worker::abandon() {
    fibers.unmap_cached();
    if (!fibers.only_root() || fibers.ready.first() || next_ || (slots_ && slots_->next_of_worker))
        return false;
    if (slots_)
        leave(*slots_);
    slot = nullptr;
    task = nullptr;
    return true;
}

Worker &Worker::adopt() {
    return g_threads.adopt();
}

void Worker::join_pool() {
    g_threads.join_pool(*this);
}

Worker *Worker::hire(void (*main)(void *), void *arg, Begins begins) {
    return g_threads.hire(main, arg, begins);
}

void Worker::begin_main() {
    WorkerThreads::begin_main(*this);
}

Worker *Worker::start(void (*main)(void *), void *arg, Begins begins) {
    Worker *const worker = hire(main, arg, begins);
    if (worker)
        worker->begin_main();
    return worker;
}

void Worker::make_stacks_executable() {
    fiber::make_packed_executable();
    for (Worker &worker : all())
        worker.fibers.each([](const Fiber &fiber) {
            if (fiber.stack && !fiber.stack.packed)
                fiber::make_executable(fiber.stack.low, fiber.stack.size);
        });
}

void Worker::retire_threads() {
    g_threads.retire();
}

void Worker::before_fork() {
    g_threads.before_fork();
    poll::before_fork();
}

void Worker::after_fork() {
    poll::after_fork();
    g_threads.after_fork();
}

void Worker::after_fork_in_child() {
    after_fork();
    forget_others();
    g_threads.after_fork_in_child();
    for (const Worker &worker : all())
        if (&worker != t_self_)
            g_table.forget(worker);
    if (t_self_) {
        new (&t_self_->event_lock) SpinLock; // a report may have been looking at them
        // The system calls its thread by another number.
        t_self_->thread_id_.store(gettid(), std::memory_order_relaxed);
        t_self_->flow_.store(nullptr); // the parent's
        t_self_->fibers.after_fork_in_child();
    }
    forget_sharing();
    poll::after_fork_in_child();
}

void setup() {
    g_processors.begin();
    g_threads.begin();
}

} // namespace sennit::sched
