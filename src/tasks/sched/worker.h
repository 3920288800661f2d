// SPDX-License-Identifier: Apache-2.0
// Workers: kernel threads that run tasks on fibers.
//
// A worker runs its loop on a fiber. It calls a task as a function on that fiber's stack, so a task
// that never blocks pays no context switch. What has to wait parks its whole fiber. The worker goes
// on with another fiber that became ready, or with a fresh one from its cache. A fiber never moves
// to another kernel thread ("tied means tied"), but for the roaming ones of untied tasks, where the
// program asks for them (roaming.h). This also makes parking simple: the only thread that may
// resume a fiber is the one that parked it, so a wake-up can never come "too early".
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
//
// A worker consists of parts, each with a header and an invariant of its own:
//
//     fibers        the one that runs, those that are ready, the cache              fibers.h
//     Handoff       what a fresh fiber begins with                                  fibers.h
//     roaming       free fibers for untied tasks that may go on elsewhere          roaming.h
//     Inbox         fibers that others have made ready                        base/inbox.h
//     Memberships   its slots                                                       group.h
//     Steals        where it finds tasks, and when it looks at the others' queues   steals.h
//     Rounds        how often it has found nothing                                  idle.h
//     activity      at work, idle, asleep, away; how it is woken                    idle.h
//     seat          its core, where processes share cores                           sharing.h
//     thread        its thread: number, processor, clock                            thread.h
#pragma once

#include "base/assert.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fence.h"
#include "base/slab.h"
#include "base/spin.h"
#include "decide/objects/attribution.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/client.h"
#include "tasks/sched/fiber.h"
#include "tasks/sched/fibers.h"
#include "tasks/sched/group.h"
#include "tasks/sched/idle.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/roaming.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/steals.h"
#include "tasks/sched/thread.h"
#include "wait/rows.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

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

// Tasks that ended on a worker and wait for events. tasks/task/execute.cpp keeps the list.
struct EventTasks {
    SpinLock lock;
    Task *first SENNIT_GUARDED_BY(lock) = nullptr;

    void count(int more) SENNIT_REQUIRES(lock) {
        SENNIT_ASSERT(count_.load(std::memory_order_relaxed) + more >= 0);
        count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    bool any() const { return count_.load(std::memory_order_relaxed) != 0; } // any thread

  private:
    std::atomic<int> count_{0};
};

class AllWorkers;

class alignas(kCacheLine) Worker {
  public:
    explicit Worker(int id) : id_(id) {}

    // ---- the owner's side -----------------------------------------------------------------
    Task *task = nullptr;        // runs now
    Slot *slot = nullptr;        // in whose context
    Task *spare_tasks = nullptr; // for included tasks, linked by `parent`; task.h
    Suspended suspended;
    Heap heap;
    Fibers fibers{fiber_main};
    Seat seat{tasks};                       // among the node's cores
    void *room = nullptr;                   // what the room above keeps for this thread
    Interruptible *interruptible = nullptr; // its fibers' waits that signals end
    balance::Attribution attribution;       // likewise: tasks/task/accounts.h

    int id() const { return id_; }
    Fiber *current() const { return fibers.current(); }     // anybody may ask
    bool has_parked() const { return fibers.any_parked(); } // or a roaming one may be

    // Wait until `condition` holds; runs other work meanwhile.
    void wait(Condition &condition);

    // Let other work run, then return (OpenMP's taskyield). One other task or fiber at most goes
    // before the caller is eligible again.
    void yield();

    // The same for fibers only that were parked here: no other worker can resume them. No task is
    // started.
    void yield_to_parked();

    // Run `item` at once on a fiber of its own; the caller goes on when it ends or suspends. If
    // `down_to` tasks or more are queued, some of them follow for a moment: so short tasks share
    // the price of the switch there and back. False when there is no stack: the caller calls it in
    // place or queues it.
    bool run_on_own_fiber(Slot &where, Item *item, std::uint32_t down_to);

    // Run a roaming fiber on top of the current one, in the context of `where`, until it leaves.
    // True: its body has returned. False: its task is suspended, and nobody else knows of it yet.
    bool carry(RoamingFiber &fiber, Slot &where);
    // The roaming fiber that runs, of the task that runs, leaves the worker. What comes after this
    // may be on another thread: nothing holds that was known of the worker.
    static void leave_carrier(bool over);

    // Put a ready task on the queue of `where`, a slot of this worker, and wake a sleeper.
    void push(Slot &where, Item *item);
    // As push, but the task may run next on this worker, before anything queued: the first
    // successor of a task that just ended. Only from code that returns to the scheduling loop.
    void push_next(Slot &where, Item *item);

    void count_task() {
        tasks.store(tasks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    // At a scheduling point of a busy worker: poll if it is time.
    void poll_if_due() {
        if (SENNIT_UNLIKELY(poll::due()))
            rounds_.look(*this);
    }
    void note_busy() {
        if (SENNIT_UNLIKELY(activity.idle_since() != 0))
            become_busy();
    }
    // It finds nothing to do, also where it waits awake for another thread's turn.
    void note_idle() {
        if (activity.idle_since() == 0)
            become_idle();
    }

    void enter(Slot &slot); // become a member: the slot is found by this worker's searches
    void leave(Slot &slot);

    // What it must not sleep through: is there something to do for it beside the task that runs on
    // it? Not in the group of `but_for`: a hint to waiters that there is work that they do not look
    // for themselves.
    bool anything_to_do(const Slot *but_for = nullptr) const;
    // If its current task were suspended, would it find nothing to run before that goes on? So it
    // is if nothing is queued or parked here, everybody else is idle, no operations are to be
    // polled for, and no tasks wait for events. The room above knows of tasks that are to be called
    // again.
    bool has_nothing_else() const;

    // ---- its thread's begin and end, for tasks/sched/threads.cpp
    // The calling thread. `stack_size`: that of a thread of ours; 0: a thread of the program.
    // `exceptions`: where that one's C++ runtime keeps those that the thread handles, or null.
    void adopt_thread(std::size_t stack_size, void **exceptions);
    static void forget_thread();
    // The owner has ended. True: nothing of it is left, on a stack or in a list, that another
    // thread could not take over. Fibers that wait for work end here, too.
    bool abandon();

    // ---- anybody's side -------------------------------------------------------------------
    // Resume a parked fiber of this worker.
    void make_ready(Fiber *fiber);
    // The same, also from a signal handler on its own thread.
    void send(Fiber *fiber);
    void wake(); // if it sleeps

    // The task that runs now, or did a moment ago. Anybody may ask, for a hint. The owner's
    // accesses are on every task's path, so they are no atomic ones; the processor reads and writes
    // pointers whole.
    SENNIT_NO_TSAN const Task *task_now() const { return __atomic_load_n(&task, __ATOMIC_RELAXED); }

    static Worker *self() { return t_self_; }
    // The worker of the calling thread, made on its first call.
    static Worker &here();
    // for (Worker &worker : Worker::all()), from any thread; a worker that is made meanwhile may
    // be missed.
    static AllWorkers all();

  private:
    static void fiber_main(fiber::Context &self);

    void queue_next();
    void run_more(Slot &where, const Fiber *creator, std::uint64_t end);
    void schedule();
    void wait_for(Condition &condition);
    void park(Condition &condition);
    bool run_accepted(Condition &condition);
    void run_on_top(Slot &where, Item *item);
    void run_on_top_as_awaited(Slot &where, Item *item);
    void switch_to(Fiber *to);
    Fiber *next_ready();
    Item *find(Slot *&where);
    void run(Slot &where, Item *item);
    void become_busy();
    void become_idle();
    // `parked`: what the current fiber waits for, if it does, armed. True: that wait is over, and
    // the fiber runs. False: it is still armed, or somebody makes it ready.
    bool idle(Condition *parked);
    bool rest(Condition *parked);
    static bool arm(Condition &condition, Fiber &me);
    bool withdraw(Condition &condition);
    void sleep();

    static SENNIT_TLS Worker *t_self_;

    Handoff handoff_;
    struct {
        Item *item = nullptr;
        Slot *slot = nullptr;
    } next_; // see push_next
    Memberships memberships_;
    Steals steals_;
    Rounds rounds_;
    const int id_;

    // What other threads read and write; the owner writes it seldom, or has to.
    alignas(kCacheLine) Inbox<Fiber> inbox_;

  public:
    Activity activity;
    std::atomic<std::uint64_t> tasks{0}; // explicit ones created here; only the owner writes
    EventTasks events;

    // Far from what the owner writes for each task: who yields reads those of all others.
    alignas(kCacheLine) Thread thread;
    RoamingFibers roaming; // the owner's
};

namespace detail {
Worker &adopt_thread(); // by a worker, a new one or one whose thread has ended
// The table of all workers. Null: of a thread that was left behind by fork().
int worker_count();
Worker *worker_at(int id);
} // namespace detail

inline Worker &Worker::here() {
    return SENNIT_LIKELY(t_self_ != nullptr) ? *t_self_ : detail::adopt_thread();
}

class AllWorkers {
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
            while (id_ < end_ && !(worker_ = detail::worker_at(id_)))
                ++id_;
        }
        int id_;
        int end_;
        Worker *worker_ = nullptr;
    };
    Iterator begin() const { return {0, count_}; }
    Iterator end() const { return {count_, count_}; }
    int count() const {
        return count_;
    } // in existence, with those of other threads before a fork()

  private:
    int count_ = detail::worker_count();
};
inline AllWorkers Worker::all() {
    return {};
}

// Put a ready task on a queue of its group, from any thread.
void push_foreign(Group &group, Item *item);
// The same, behind all of its priority that are ready.
void push_last(Group &group, Item *item);

// Tell the sleepers of `group` that its queues hold work, unless who is awake is as well.
void wake_one(Group &group);
// How many workers of the group are awake? Not more than `most` are counted.
int count_awake(const Group &group, int most);
inline void announce_work(Group &group) {
    fence_light(); // pairs with fence_before_sleep in Worker::sleep
    if (SENNIT_UNLIKELY(group.sleepers.load(std::memory_order_relaxed) > 0))
        wake_one(group);
}

inline void Worker::enter(Slot &where) {
    SENNIT_ASSERT(t_self_ == this);
    memberships_.enter(where, *this);
    activity.set_away(false);
}

inline void Worker::leave(Slot &where) {
    // Its thread may be ending: then it is nobody's worker any more.
    SENNIT_ASSERT(thread.is_calling());
    SENNIT_ASSERT(where.worker.load(std::memory_order_relaxed) == this);
    memberships_.leave(where);
    if (!memberships_.first())
        activity.set_away(true);
}

// The current fiber of `worker` waits, and waits no more; begin_wait() returns what end_wait()
// wants.
inline const Wait *begin_wait(const Worker &worker, Wait &wait) {
    Fiber &current = *worker.current();
    const Wait *const outer = current.waits.load(std::memory_order_relaxed);
    wait.task = worker.task;
    wait.slot = worker.slot;
    wait.outer = outer;
    wait.frame = __builtin_frame_address(0);
    current.waits.store(&wait, std::memory_order_release);
    return outer;
}
inline void end_wait(const Worker &worker, const Wait *outer) {
    worker.current()->waits.store(outer, std::memory_order_relaxed);
}

// How long a worker without work waits awake, in ticks().
inline std::uint64_t patience(Worker &worker) {
    constexpr std::uint64_t few_us = wait::whole_us(wait::kOneOfFew.idle_ns);
    if (SENNIT_UNLIKELY(worker.thread.own_flow() != nullptr) && worker.thread.sleeps_at_once())
        return 0;
    if (SENNIT_UNLIKELY(shares_cores())) {
        worker.note_idle();
        return worker.seat.patience();
    }
    const std::uint64_t budget = spin_budget();
    return budget != 0 || !is_one_of_few(worker) ? budget : few_us * ticks_per_us();
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
            self_->activity.gather_wakes();
    }
    ~WakesTogether() {
        if (self_)
            self_->activity.wake_gathered();
    }
    WakesTogether(const WakesTogether &) = delete;
    WakesTogether &operator=(const WakesTogether &) = delete;

  private:
    Worker *const self_ = Worker::self();
};

} // namespace sennit::sched
