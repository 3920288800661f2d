// SPDX-License-Identifier: Apache-2.0
// Workers: kernel threads that run tasks on fibers.
//
// A worker runs its loop on a fiber. It calls a task as a function on that fiber's stack, so a task
// that never blocks pays no context switch. What has to wait parks its whole fiber. The worker goes
// on with another fiber that became ready, or with a fresh one from its cache. A fiber never moves
// to another kernel thread ("tied means tied"). This also makes parking simple: the only thread
// that may resume a fiber is the one that parked it, so a wake-up can never come "too early".
//
// A worker takes tasks from every group that it has a slot in (tasks/sched/group.h).
//
// Wake-ups: a parked fiber is resumed through its worker's inbox (make_ready). A sleeping worker
// is woken by make_ready, by a push to a queue of one of its groups (announce_work), or to take
// over polling (give_up_polling).
//
// The threads of a rank of fibers (src/ranks/fibers), its main flow and those of ours, sleep away
// from home: the kernel's thread that they are on runs other fibers meanwhile, and who wakes them
// rings.
#pragma once

#include "base/assert.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fence.h"
#include "base/futex.h"
#include "base/observed.h"
#include "base/slab.h"
#include "base/spin.h"
#include "decide/objects/attribution.h"
#include "ranks/fibers/rank_fiber.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/client.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/fibers.h"
#include "tasks/sched/group.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/steals.h"

#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <utility>

namespace sennit::sched {

using virt::ClockUse;

// The tasks of a worker that wait for an outside event. Only the worker writes: plain numbers, but
// others read them.
struct Suspended {
    std::atomic<std::uint64_t> ever{0};
    std::atomic<int> now{0};
    std::atomic<int> most{0};

    void begin() {
        ever.store(ever.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        const int count = now.load(std::memory_order_relaxed) + 1;
        now.store(count, std::memory_order_relaxed);
        if (count > most.load(std::memory_order_relaxed))
            most.store(count, std::memory_order_relaxed);
    }
    void end() {
        SENNIT_ASSERT(any());
        now.store(now.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    bool any() const { return now.load(std::memory_order_relaxed) > 0; }
};

class alignas(kCacheLine) Worker {
  public:
    // ---- the owner's side -----------------------------------------------------------------
    Task *task = nullptr;        // runs now
    Slot *slot = nullptr;        // in whose context
    Task *spare_tasks = nullptr; // for included tasks, linked by `parent`; task.h
    Suspended suspended;
    Heap heap;

    int id() const { return id_; }
    Fiber *current() const { return fibers.current(); } // anybody may ask
    bool has_parked() const { return fibers.any_parked(); }

    // Wait until `condition` holds; runs other work meanwhile.
    void wait(Condition &condition);

    // Let other work run, then return (OpenMP's taskyield). One other task or fiber at most goes
    // before the caller is eligible again.
    void yield();

    // The same for fibers only that were parked here: no other worker can resume them. No task is
    // started.
    void yield_to_parked();

    // Give the processor to another thread. Where that took long lately, processors_wanted() holds.
    void yield_processor();
    // For those that will yield to it, see own_work.h.
    void note_processor() {
        if (const int here = sched_getcpu(); here != processor())
            processor_.store(here, std::memory_order_relaxed);
    }

    // Run `node` at once on a fiber of its own; the caller goes on when it ends or suspends. If
    // `down_to` tasks or more are queued, some of them follow for a moment: so short tasks share
    // the price of the switch there and back. False when there is no stack: the caller calls it in
    // place or queues it.
    bool run_on_own_fiber(Slot &where, Node *node, std::uint32_t down_to);

    // Put a ready task on the queue of `where`, a slot of this worker, and wake a sleeper.
    void push(Slot &where, Node *node);
    // As push, but the task may run next on this worker, before anything queued: the first
    // successor of a task that just ended. Only from code that returns to the scheduling loop.
    void push_next(Slot &where, Node *node);

    // For the statistics: explicit tasks created here. Only the owner writes.
    void count_task() {
        tasks_.store(tasks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t tasks() const { return tasks_.load(std::memory_order_relaxed); }

    // Is there room on the current stack to call another task on top of the current one?
    bool may_bury() const;

    // At a scheduling point of a busy worker: poll if it is time.
    void poll_if_due() {
        if (SENNIT_UNLIKELY(poll::due()))
            poll_slow();
    }

    void enter(Slot &slot); // become a member: the slot is found by this worker's searches
    void leave(Slot &slot);

    // Before other tasks may start on this thread: the current one waits, rests, or encounters a
    // region.
    void note_control() {
        if (task == slot->own_task)
            slot->control.read();
    }

    Fibers fibers{fiber_main};
    Seat seat{tasks_};                // among the node's cores
    void *room = nullptr;             // what the room above keeps for this thread
    balance::Attribution attribution; // likewise: tasks/task/accounts.h

    // ---- anybody's side -------------------------------------------------------------------
    // Resume a parked fiber of this worker.
    void make_ready(Fiber *fiber);
    // The same, also from a signal handler on its own thread.
    void send(Fiber *fiber);
    void wake(); // if it sleeps
    bool asleep() const { return state_.load(std::memory_order_relaxed) != kAwake; }

    // The task that runs now, or did a moment ago. Anybody may ask, for a hint. The owner's
    // accesses are on every task's path, so they are no atomic ones; the processor reads and writes
    // pointers whole.
    SENNIT_NO_TSAN const Task *task_now() const { return __atomic_load_n(&task, __ATOMIC_RELAXED); }

    static Worker *self() { return t_self_; }
    // The worker of the calling thread, made on its first call.
    static Worker &here() { return SENNIT_LIKELY(t_self_ != nullptr) ? *t_self_ : adopt(); }
    static int count(); // workers in existence
    // for (Worker &worker : Worker::all()), from any thread; a worker that is made meanwhile may
    // be missed.
    class All;
    static All all();

    // Run main(arg) on a pooled or new worker thread; null when no thread can be made. When main
    // returns the worker goes back to the pool. Where processes share cores, main begins with a
    // core, or takes one itself.
    enum class Begins : bool { without_core, with_core };
    static Worker *start(void (*main)(void *arg), void *arg, Begins begins = Begins::with_core);
    // The same in two steps, see Recruits.
    static Worker *hire(void (*main)(void *arg), void *arg, Begins begins = Begins::with_core);
    void begin_main();
    // A main calls this when it is about to return, before it tells anybody. From now on its thread
    // may be started again.
    void join_pool();

    // The pool's threads end, and so does what they have in thread-local storage. Threads at work
    // end when their work is done.
    static void retire_threads();

    // need_executable() said so: the stacks of all fibers, whatever their state.
    static void make_stacks_executable();

    // fork() waits for our locks, and only the calling thread lives on in the child.
    static void before_fork();
    static void after_fork();
    static void after_fork_in_child();

    // ---- for reports ----------------------------------------------------------------------
    // Since when it has found nothing to do, in ticks(); 0 while it is at work.
    std::uint64_t idle_since() const { return idle_since_.load(std::memory_order_relaxed); }
    // Member of no team.
    bool away() const { return away_.load(std::memory_order_relaxed); }
    int thread_id() const { return thread_id_.load(std::memory_order_relaxed); }
    // Where it last noted to be, by the system's number; -1: nobody knows.
    int processor() const { return processor_.load(std::memory_order_relaxed); }
    // Tasks that ended here and wait for events; tasks/task/execute.cpp keeps the list.
    SpinLock event_lock;
    Task *event_tasks = nullptr;
    // Written with the lock.
    void count_event_task(int more) {
        SENNIT_ASSERT(event_count_.load(std::memory_order_relaxed) + more >= 0);
        event_count_.store(event_count_.load(std::memory_order_relaxed) + more,
                           std::memory_order_relaxed);
    }
    // The owner waits awake for another thread's turn (wait_until.h) and finds nothing else to do.
    void note_idle() {
        if (idle_since() == 0) {
            // Release: pairs with has_nothing_else of others.
            idle_since_.store(ticks(), std::memory_order_release);
            if (observed::by(observed::kTrace))
                client().found_nothing();
        }
    }
    // Is there something to do for it beside the task that runs on it?
    bool wanted() const;
    // If its current task were suspended, would it find nothing to run before that goes on? So it
    // is if nothing is queued or parked here, everybody else is idle, no operations are to be
    // polled for, and no tasks wait for events. The room above knows of tasks that are to be called
    // again.
    bool has_nothing_else() const;
    void note_busy() {
        if (SENNIT_UNLIKELY(idle_since() != 0))
            turn_busy();
    }
    void forget_core() { seat.forget(thread_id_); }              // in the child of fork()
    void end_short_slice() { seat.end_short_slice(thread_id_); } // any thread
    const Wait *begin_wait(Wait &wait);                          // returns what end_wait wants
    void end_wait(const Wait *outer) { current()->waits.store(outer, std::memory_order_relaxed); }

    // Processor time that the thread has spent on the stack on which the caller runs, since some
    // time in the past (nanoseconds): for differences. The first call in a process turns it on.
    std::uint64_t work_time_ns();
    // Processor time of the worker's thread; as a rank fiber, on all kernel threads that run it.
    // The difference of two is right if no end_clock() for the same use is between them.
    std::int64_t clock_ns(ClockUse use) {
        virt::RankFiber *const own = own_flow();
        return SENNIT_UNLIKELY(own != nullptr) ? own->calls->work_ns(*own, use) : thread_work_ns();
    }
    void end_clock(ClockUse use) {
        if (virt::RankFiber *const own = own_flow(); SENNIT_UNLIKELY(own != nullptr))
            own->clock.stop(use);
    }

  private:
    friend struct WorkerThreads;
    friend class WaitCell;
    friend class WakesTogether;
    friend class Recruits;
    // Asleep: on the state itself, as a rank fiber, or in the dormitory.
    enum : std::uint32_t { kAwake = 0, kAsleep = 1, kAway = 2, kDorm = 3 };

    static Worker &adopt();
    static Worker *make();
    static Worker *by_id(int id); // null: of a thread that was left behind by fork()
    static void forget_others();
    static void fiber_main(fiber::Context &self);

    void queue_next();
    int poll(bool looks = false);
    void to_inbox(Fiber *fiber);
    void run_more(Slot &where, const Fiber *creator, std::uint64_t end);
    void schedule();
    void wait_for(Condition &condition);
    bool arm(Condition &condition);
    void park(Condition &condition);
    void switch_to(Fiber *to);
    void count_work(Fiber &left);
    Fiber *next_ready();
    bool abandon();
    bool any_unbegun() const { return anything_unbegun() && find_unbegun() != nullptr; }
    // A slot whose group has threads that have not begun. Rare: its callers are to stay small.
    [[gnu::cold, gnu::noinline]] Slot *find_unbegun() const;
    bool begin_one();
    Node *find(Slot *&where);
    Node *find_in(Slot &where);
    void run(Slot &where, Node *node);
    void idle();
    void rest();
    void turn_busy();
    // How long it waits awake, in ticks().
    std::uint64_t patience() {
        if (SENNIT_UNLIKELY(own_flow() != nullptr) && sleeps_at_once())
            return 0;
        if (SENNIT_UNLIKELY(shares_cores())) {
            note_idle();
            return seat.patience();
        }
        const std::uint64_t budget = spin_budget();
        return budget != 0 || !is_one_of_few() ? budget : kFewSpinUs * ticks_per_us();
    }
    static constexpr std::uint64_t kFewSpinUs = 20;
    bool is_one_of_few() const;
    void give_processor();
    // The rank fiber that this thread is the flow of, if it may leave its home.
    virt::RankFiber *flow() const {
        virt::RankFiber *const own = own_flow();
        const bool hops =
            own &&
            own->main.load(std::memory_order_relaxed)->hops.load(std::memory_order_relaxed) != 0;
        return SENNIT_UNLIKELY(hops) ? own : nullptr;
    }
    // Of a rank fiber, for which to sleep costs no more than to yield. At home each of its yields
    // would be a system call.
    bool sleeps_at_once() const {
        const virt::RankFiber &own = *own_flow();
        return own.worker.load(std::memory_order_relaxed) ? own.calls->keeps_others(own)
                                                          : crowded() && flow();
    }
    bool sleep_away(node::Bell *bell, std::int64_t most_ns);
    void settle_groups();
    void pause();
    std::int64_t waited_ns() const;
    std::int64_t nap_ns() const;
    bool begins_watch() const;
    void count_asleep(int more, bool light);
    void wake_gathered();
    void sleep();
    void listen(); // to the doorbell
    static bool nobody_at_work();
    bool anything_to_do(const Slot *but_for = nullptr) const;
    void poll_slow();
    void give_up_polling();

    static SENNIT_TLS Worker *t_self_;

    Handoff handoff_;
    static constexpr std::uint64_t kHandoffUs = 2;
    static constexpr int kLooksAtClock = 4;
    Node *next_ = nullptr; // see push_next
    Slot *next_slot_ = nullptr;
    Slot *slots_ = nullptr; // all memberships
    std::uint64_t next_poll_ = 0;
    int idle_rounds_ = 0;
    std::uint32_t rings_seen_ = 0; // of the doorbell, when it last listened
    Steals steals_;
    unsigned empty_yields_ = 0;
    unsigned busy_yields_ = 0;          // that found a fiber to run
    std::uint64_t work_counted_ns_ = 0; // processor time that is in some fiber's worked_ns
    int id_ = 0;
    // Of the thread that it is on; see flow(). The owner writes, and who wakes it reads: what is
    // there stays mapped.
    std::atomic<virt::RankFiber *> flow_{nullptr};
    virt::RankFiber *own_flow() const { return flow_.load(std::memory_order_relaxed); }
    pthread_t thread_{};

    alignas(kCacheLine) Inbox inbox_;
    FutexWord state_{kAwake};
    // Of others in the dormitory, see WakesTogether; the owner's.
    bool gathers_wakes_ = false;
    std::uint32_t gathered_wakes_ = 0;
    std::atomic<std::uint64_t> tasks_{0};
    std::atomic<std::uint64_t> idle_since_{0}; // only the owner writes
    std::atomic<bool> away_{true};
    std::atomic<int> event_count_{0}; // of event_tasks
    std::atomic<int> thread_id_{0};

    // Pool of threads without work (WorkerThreads).
    enum : std::uint32_t { kNoMail = 0, kMail = 1, kWaitsForMail = 2 }; // asleep
    FutexWord mail_{kNoMail};
    void (*main_)(void *) = nullptr;
    void *main_arg_ = nullptr;
    Begins main_begins_ = Begins::with_core;
    Worker *pool_next_ = nullptr;
    bool pooled_ = false; // in the pool, maybe by its main itself
    int born_ = 0;        // how often threads had been retired when its thread was made

    // Far from what the owner writes for each task: who yields reads those of all others.
    std::atomic<int> processor_{-1};
};

class Worker::All {
  public:
    class Iterator {
      public:
        Iterator(int id, int end) : id_(id), end_(end) { find(); }
        Worker &operator*() const { return *worker_; }
        Iterator &operator++() {
            ++id_;
            find();
            return *this;
        }
        bool operator!=(const Iterator &other) const { return id_ != other.id_; }

      private:
        void find() {
            while (id_ < end_ && !(worker_ = by_id(id_)))
                ++id_;
        }
        int id_;
        int end_;
        Worker *worker_ = nullptr;
    };
    Iterator begin() const { return {0, count_}; }
    Iterator end() const { return {count_, count_}; }

  private:
    int count_ = count();
};
inline Worker::All Worker::all() {
    return {};
}

// Put a ready task on a queue of its group, from any thread.
void push_foreign(Group &group, Node *node);
// The same, behind all of its priority that are ready.
void push_last(Group &group, Node *node);

// Tell the sleepers of `group` that its queues hold work, unless who is awake is as well.
void wake_one(Group &group);
// How many workers of the group are awake? Not more than `most` are counted.
int count_awake(const Group &group, int most);
inline void announce_work(Group &group) {
    fence_light(); // pairs with fence_before_sleep in Worker::sleep
    if (SENNIT_UNLIKELY(group.sleepers.load(std::memory_order_relaxed) > 0))
        wake_one(group);
}

inline void Worker::enter(Slot &slot) {
    SENNIT_ASSERT(t_self_ == this && !slot.worker.load(std::memory_order_relaxed));
    SENNIT_ASSERT(slot.state.step(SlotState::working));
    slot.worker.store(this, std::memory_order_release);
    slot.next_of_worker = slots_;
    slots_ = &slot;
    away_.store(false, std::memory_order_relaxed);
}

inline void Worker::leave(Slot &slot) {
    // Its thread may be ending: then it is nobody's worker any more.
    SENNIT_ASSERT(pthread_equal(thread_, pthread_self()));
    SENNIT_ASSERT(slot.worker.load(std::memory_order_relaxed) == this);
    SENNIT_ASSERT(slot.state.step(SlotState::vacant));
    Slot **at = &slots_;
    while (*at != &slot) {
        SENNIT_ASSERT(*at);
        at = &(*at)->next_of_worker;
    }
    *at = slot.next_of_worker;
    if (!slots_)
        away_.store(true, std::memory_order_relaxed);
    slot.worker.store(nullptr, std::memory_order_relaxed);
}

inline const Wait *Worker::begin_wait(Wait &wait) {
    const Wait *const outer = current()->waits.load(std::memory_order_relaxed);
    wait.task = task;
    wait.slot = slot;
    wait.outer = outer;
    wait.frame = __builtin_frame_address(0);
    current()->waits.store(&wait, std::memory_order_release);
    return outer;
}

inline void WaitCell::signal() {
    // acq_rel: what the signaller did is visible to the waiter; and we see the armed fiber's home.
    if (Fiber *fiber = waiter_.exchange(mark(), std::memory_order_acq_rel))
        if (fiber != mark())
            fiber->home->make_ready(fiber);
}

inline void WaitCell::signal_from_anywhere() {
    if (Fiber *fiber = waiter_.exchange(mark(), std::memory_order_acq_rel))
        if (fiber != mark())
            fiber->home->send(fiber);
}

inline void WaitCell::signal_if_armed() {
    Fiber *fiber = waiter_.load(std::memory_order_acquire);
    if (fiber && fiber != mark() &&
        waiter_.compare_exchange_strong(fiber, mark(), std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
        fiber->home->make_ready(fiber);
}

// While it lives, whom the calling worker wakes in the dormitory is only noted. Then one call wakes
// them all. The worker does not wait for anything meanwhile.
class WakesTogether {
  public:
    WakesTogether() {
        if (self_)
            self_->gathers_wakes_ = true;
    }
    ~WakesTogether() {
        if (self_)
            self_->wake_gathered();
    }
    WakesTogether(const WakesTogether &) = delete;
    WakesTogether &operator=(const WakesTogether &) = delete;

  private:
    Worker *const self_ = Worker::self();
};

// Workers that have a thread, but do not begin yet. A thread that would begin at once may find that
// it has nothing to do so far, and sleep just before there is something. Belongs to one thread.
class Recruits {
  public:
    bool any() const { return first_ != nullptr; }
    // False: no thread can be made.
    bool add(void (*main)(void *arg), void *arg) {
        Worker *const worker = Worker::hire(main, arg);
        if (worker)
            worker->pool_next_ = std::exchange(first_, worker);
        return worker != nullptr;
    }
    void begin() {
        while (Worker *const worker = first_) {
            first_ = std::exchange(worker->pool_next_, nullptr); // before another one is after it
            worker->begin_main();
        }
    }

  private:
    Worker *first_ = nullptr; // linked by pool_next_, the last one first
};

// function(worker) is called when a thread of the program that has used OpenMP ends, before another
// thread may take over its worker. It is called again if destructors of thread-specific data have
// used OpenMP since. Functions are called in the order in which they were first given. One that is
// given twice is called once.
void at_thread_end(void (*function)(Worker &worker));

// function(worker) is called when retire_threads() ends threads of ours, for each of them: when its
// work is done, and before another thread may take over its worker. It is also called for the
// thread that retires them. There is one such function.
void at_retirement(void (*function)(Worker &worker));

void setup(); // once, when the library is loaded

} // namespace sennit::sched
