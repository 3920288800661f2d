// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/threads.h"

#include "base/assert.h"
#include "base/message.h"
#include "base/observed.h"
#include "base/spin.h"
#include "tasks/sched/client.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"

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

int detail::worker_count() {
    return g_table.count();
}
Worker *detail::worker_at(int id) {
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

namespace {

// What the pool keeps for a worker: its mail, by which its thread is told to begin, and its place
// in a list. Each worker is one.
struct Employee final : Worker {
    using Worker::Worker;

    enum : std::uint32_t { kNoMail = 0, kMail = 1, kWaitsForMail = 2 }; // asleep
    FutexWord mail{kNoMail};
    // Written before the mail is sent, read by the worker's thread.
    void (*main)(void *) = nullptr;
    void *main_arg = nullptr;
    Begins begins = Begins::with_core;
    Employee *next = nullptr; // in a list of the pool, or among recruits
    bool pooled = false;      // in the pool, maybe by its main itself
    int born = 0;             // how often threads had been retired when its thread was made
};
Employee &employee(Worker &worker) {
    return static_cast<Employee &>(worker);
}

Employee &make_worker() {
    void *memory = std::aligned_alloc(alignof(Employee), sizeof(Employee));
    if (!memory)
        fatal("no memory for a thread's descriptor (%zu bytes)", sizeof(Employee));
    const int id = g_table.take_number();
    if (id >= kMostWorkers)
        fatal("more than %d threads use OpenMP: lower OMP_NUM_THREADS", kMostWorkers);
    auto *const worker = new (memory) Employee(id);
    g_table.put(*worker);
    return *worker;
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
// Invariants: a worker is in one of the lists or in none, linked by its `next`. In a list it
// has no mail and no slot, and belongs to who takes it out. A thread joins the pool only if it was
// born after the last retirement; so those that retire() meets in it, and those that come back to
// it later, end.
class WorkerThreads {
  public:
    void begin() {
        pthread_key_create(&exit_key_, thread_exit);
        exception_globals_ = find_exception_globals();
        Fibers::setup();
    }

    Worker &adopt() {
        Employee *worker = take(abandoned_);
        if (worker)
            g_table.put(*worker); // a forked child had forgotten it
        else
            worker = &make_worker();
        worker->adopt_thread(0, exceptions());
        pthread_setspecific(exit_key_, worker);
        return *worker;
    }

    Employee *hire(void (*main)(void *), void *arg, Begins begins) {
        Employee *worker = take(pooled_);
        if (!worker) {
            worker = take(threadless_);
            if (!worker)
                worker = &make_worker();
            if (!create_thread(*worker)) {
                put(*worker, threadless_);
                return nullptr;
            }
        }
        worker->main = main;
        worker->main_arg = arg;
        worker->begins = begins;
        return worker;
    }

    // What hire() has written is there. The kernel is called only for a thread that sleeps.
    static void begin_main(Employee &worker) {
        SENNIT_ASSERT(worker.mail.load(std::memory_order_relaxed) != Employee::kMail);
        worker.activity.set_away(false); // it is on its way
        if (worker.mail.exchange(Employee::kMail, std::memory_order_release) ==
            Employee::kWaitsForMail)
            futex_wake(worker.mail);
    }

    // Called by the worker's own thread. If it does not join the pool, it ends when its main
    // returns.
    void join_pool(Employee &worker) {
        lock_.lock();
        worker.pooled = worker.born == retirements_;
        if (worker.pooled)
            push(worker, pooled_);
        lock_.unlock();
    }

    // Threads without work end now. Threads that have some end when it is done.
    void retire() {
        lock_.lock();
        Employee *idle = pooled_;
        pooled_ = nullptr;
        ++retirements_;
        lock_.unlock();
        while (idle) {
            Employee *const next = std::exchange(idle->next, nullptr);
            say_retired(*idle);
            idle->main = nullptr;
            begin_main(*idle);
            idle = next;
        }
        if (Worker *const self = Worker::self())
            say_retired(*self);
    }

    void before_fork() SENNIT_ACROSS_FORK { lock_.lock(); }
    void after_fork() SENNIT_ACROSS_FORK { lock_.unlock(); }
    // Only the calling thread is still there.
    void after_fork_in_child() {
        pooled_ = nullptr;
        threadless_ = nullptr;
        threads_.store(0, std::memory_order_relaxed);
    }

  private:
    static void *thread_main(void *worker);
    static void thread_exit(void *worker);

    void **exceptions() const { return exception_globals_ ? exception_globals_() : nullptr; }

    void live(Employee &worker) {
        const std::size_t stack_size = worker.fibers.root.context.stack_size; // see create_thread
        worker.adopt_thread(stack_size, exceptions());
        worker.seat.slice.put_right();
        worker.thread.enter_flow();
        lock_.lock();
        worker.born = retirements_;
        lock_.unlock();
        const Wait unemployed{WaitFor::nobody, nullptr};
        for (;;) {
            if (observed::by(observed::kTrace) && worker.pooled)
                client().waits(worker, unemployed, true);
            worker.seat.lend();
            wait_for_mail(worker);
            if (worker.begins == Begins::with_core)
                worker.seat.need();
            if (observed::by(observed::kTrace) && worker.pooled)
                client().waits(worker, unemployed, false);
            worker.mail.store(Employee::kNoMail, std::memory_order_relaxed);
            worker.activity.set_away(true);
            worker.pooled = false;
            if (worker.main)
                worker.main(worker.main_arg);
            if (!worker.pooled)
                join_pool(worker);
            if (!worker.pooled)
                break;
        }
        worker.seat.lend();
        worker.thread.leave_flow();
        worker.seat.slice.forget();
        Worker::forget_thread(); // the next thread may have the worker at once
        say_retired(worker);
        threads_.fetch_sub(1, std::memory_order_relaxed);
        put(worker, threadless_);
    }

    // A user's thread ends. Keep its worker for the next one, as if it was new. But not if the
    // thread ends in the middle of a region or a task, for its fibers must never run on another
    // thread.
    void leave(Employee &worker) {
        for (const auto &place : g_at_thread_end)
            if (const auto function = place.load(std::memory_order_acquire))
                function(worker);
        worker.seat.lend();
        worker.seat.slice.forget();
        Worker::forget_thread();
        const bool reusable = worker.abandon();
        worker.activity.set_away(true);
        if (reusable)
            put(worker, abandoned_);
    }

    static void wait_for_mail(Employee &worker) {
        std::uint32_t mail = Employee::kNoMail;
        worker.mail.compare_exchange_strong(mail, Employee::kWaitsForMail,
                                            std::memory_order_relaxed);
        while (worker.mail.load(std::memory_order_acquire) != Employee::kMail)
            futex_wait(worker.mail, Employee::kWaitsForMail);
    }

    static int create_thread(Employee &worker, std::size_t stack_size) {
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

    bool create_thread(Employee &worker) {
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

    void push(Employee &worker, Employee *&list) const SENNIT_REQUIRES(lock_) {
        // Without work, and in no list.
        SENNIT_ASSERT(worker.mail.load(std::memory_order_relaxed) != Employee::kMail &&
                      !worker.next);
        worker.next = list;
        list = &worker;
    }

    void put(Employee &worker, Employee *&list) {
        lock_.lock();
        push(worker, list);
        lock_.unlock();
    }

    Employee *take(Employee *&list) {
        lock_.lock();
        Employee *worker = list;
        if (worker)
            list = std::exchange(worker->next, nullptr);
        lock_.unlock();
        return worker;
    }

    SpinLock lock_;
    Employee *pooled_ = nullptr;
    Employee *abandoned_ = nullptr;
    Employee *threadless_ = nullptr;
    int retirements_ SENNIT_GUARDED_BY(lock_) = 0;
    std::atomic<int> threads_{0};
    pthread_key_t exit_key_ = 0;
    ExceptionGlobals exception_globals_ = nullptr;
};

constinit WorkerThreads g_threads;

void *WorkerThreads::thread_main(void *worker) {
    g_threads.live(*static_cast<Employee *>(worker));
    return nullptr;
}

void WorkerThreads::thread_exit(void *worker) {
    g_threads.leave(*static_cast<Employee *>(worker));
}

} // namespace

Worker &detail::adopt_thread() {
    return g_threads.adopt();
}

bool start_thread(void (*main)(void *), void *arg, Begins begins) {
    Employee *const worker = g_threads.hire(main, arg, begins);
    if (worker)
        WorkerThreads::begin_main(*worker);
    return worker != nullptr;
}

bool Recruits::add(void (*main)(void *arg), void *arg) {
    Employee *const worker = g_threads.hire(main, arg, Begins::with_core);
    if (!worker)
        return false;
    worker->next = first_ ? &employee(*first_) : nullptr;
    first_ = worker;
    return true;
}

void Recruits::begin() {
    while (first_) {
        Employee &worker = employee(*first_);
        first_ = std::exchange(worker.next, nullptr); // before another one is after it
        WorkerThreads::begin_main(worker);
    }
}

void join_pool(Worker &worker) {
    g_threads.join_pool(employee(worker));
}

void retire_threads() {
    g_threads.retire();
}

void make_stacks_executable() {
    fiber::make_packed_executable();
    for (Worker &worker : Worker::all())
        worker.fibers.each([](const Fiber &fiber) {
            if (fiber.stack && !fiber.stack.packed)
                fiber::make_executable(fiber.stack.low, fiber.stack.size);
        });
    each_roaming([](const Fiber &fiber) {
        if (!fiber.stack.packed)
            fiber::make_executable(fiber.stack.low, fiber.stack.size);
    });
}

void before_fork() {
    g_threads.before_fork();
    poll::before_fork();
}

void after_fork() {
    poll::after_fork();
    g_threads.after_fork();
}

void after_fork_in_child() {
    after_fork();
    forget_sleepers();
    g_threads.after_fork_in_child();
    Worker *const self = Worker::self();
    for (const Worker &worker : Worker::all())
        if (&worker != self)
            g_table.forget(worker);
    if (self) {
        new (&self->events.lock) SpinLock; // another thread's report may have been looking at them
        self->thread.after_fork_in_child();
        self->fibers.after_fork_in_child();
    }
    roaming_after_fork_in_child();
    forget_sharing();
    poll::after_fork_in_child();
}

void setup() {
    g_processors.begin();
    g_threads.begin();
}

} // namespace sennit::sched
