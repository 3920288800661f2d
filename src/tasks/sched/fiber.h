// SPDX-License-Identifier: Apache-2.0
// A fiber as the scheduler sees it: a stack with a flow of control on it, and what is saved while
// it is parked. src/tasks/fiber knows how stacks are mapped and switched.
#pragma once

#include "base/assert.h"
#include "base/spin.h"
#include "tasks/fiber/context.h"
#include "tasks/fiber/stack.h"

#include <atomic>
#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::sched {

class Worker;
struct Slot;

// What a fiber waits for, as plain data: WaitFor and Wait. The hang report (src/tasks/watch) reads
// it from another thread, a debugger reads it in a stopped process. It lies in the waiting fiber's
// frame. Waits nest: a waiting task may call another one on top of itself.
enum class WaitFor : std::uint8_t {
    // kind         object                  who ends it
    nobody,      // -                       a docked thread: no task waits here
    children,    // Task *, the waiter      the last child
    taskgroup,   // Taskgroup *             the group's last task
    dependences, // DependNode *            the last predecessor
    barrier,     // Group *, the team       the last thread, or the team's last task
    resumption,  // sennit_wait * or null   sennit_task_resume
    events,      // Task *, an undeferred   the last event that its body has bound; null: a task
                 // one of the waiter's     that has ended, no fiber
    lock,        // omp::TaskMutex *            its holder
    time,        // -                       a timer
    turn,        // -                       the iteration before, in an ordered or doacross loop
    primitive,   // Primitive *             another thread or task, that unlocks or signals it
};

// A mutex, condition variable, ... of the program's or a library's own (src/tasks/pthread).
struct Primitive {
    const char *what; // a string literal: "pthread mutex"
    const void *address;
    const void *const *holder; // where the fiber is noted that holds it, or null: nobody knows
};

// What a call of libc's waits for that may take as long as it likes (src/tasks/libc).
inline constexpr char kInputOutput[] = "input or output";

// A wait of a task's that a signal handler ends, if it runs on the thread while that sleeps. In a
// list of the worker, whose thread alone touches it.
struct Interruptible {
    void (*const interrupt)(Interruptible &); // the fiber becomes ready
    Interruptible *next = nullptr;
};

struct Wait {
    const WaitFor kind;
    const void *const object;
    Task *task = nullptr; // that waits
    const Slot *slot = nullptr;
    const Wait *outer = nullptr; // of the task under it on the same stack
    const void *frame = nullptr; // the caller's frames are above this address
};

// Checked builds follow them. A fiber is
//     cached    without work, in the cache of its worker
//     taken     about to be switched to for the first time since, with a task to run
//     running   the flow of control of its thread
//     parked    registered with what it waits for, or about to be, and still on its thread until
//               that switches to another one
//     ready     in the inbox or the list of resumed fibers of its worker
enum class FiberState : std::uint8_t { cached, taken, running, parked, ready };
constexpr unsigned after(FiberState state) {
    using enum FiberState;
    switch (state) {
    case cached:
        return states(taken);
    case taken:
        return states(running);
    case running:
        return states(parked, ready, cached); // ready: it yields; cached: it found nothing to do
    case parked:
        return states(ready, running); // running: what it waits for holds, or was taken back
    case ready:
        return states(running);
    }
    return 0;
}

// A stack with a flow of control on it. Lives at the top of its own stack, but for a thread's root
// fiber, which lives in its Worker. Touched only by its home worker, except `next` while the fiber
// travels in an inbox.
struct Fiber {
    fiber::Context context;
    fiber::Stack stack;
    Worker *home = nullptr;
    int thread = 0; // the kernel thread that it was made on, and never leaves
    Fiber *next = nullptr;
    // Saved while parked:
    Task *task = nullptr;
    Slot *slot = nullptr;
    void *exceptions[2] = {nullptr, nullptr}; // __cxa_get_globals() of the C++ runtime
    int locks = 0; // of OpenMP's that tasks on it hold; counted while observed::kLocks is set
    bool locks_known = false;    // have all of them been counted, since nothing ran on it?
    std::uint64_t worked_ns = 0; // until it was last left; counted while observed::kWorkTime is set
    // What the code on it waits for, innermost first; for reports.
    std::atomic<const Wait *> waits{nullptr};
    Fiber *listed_next = nullptr; // of its home's fibers
    Fiber **listed_at = nullptr;
    [[no_unique_address]] States<FiberState, after> state{FiberState::cached};
};

// Is there room on the current stack, that of `current`, to call another task on top of the one
// that runs?
bool may_bury(const Fiber &current);

// Where the program's C++ runtime keeps the exceptions that the thread handles: each fiber has its
// own.

// The C++ ABI's __cxa_get_globals: a thread's pointer to handled exceptions, and its count of
// uncaught ones.
using ExceptionGlobals = void **(*)();

// The one that the program uses; null when it has none. Ours is linked statically and another.
ExceptionGlobals find_exception_globals();

// What a fiber waits for, and how it is registered for the wake-up: WaitCell is one signal for one
// fiber, Condition the general form.
//
// The signals are inline and need the complete Worker: tasks/sched/worker.h has them.

struct Item;

// One fiber waits for one signal. states: null -> (fiber | signalled); fiber -> signalled.
class WaitCell {
  public:
    bool signalled() const { return waiter_.load(std::memory_order_acquire) == mark(); }
    // False when the signal came first. After true, `fiber` leaves only by make_ready.
    bool arm(Fiber *fiber) {
        Fiber *expected = nullptr;
        const bool armed = waiter_.compare_exchange_strong(
            expected, fiber, std::memory_order_acq_rel, std::memory_order_acquire);
        SENNIT_ASSERT(armed || expected == mark()); // nobody else waits here
        return armed;
    }
    // Take the arming back; false when the signal won and make_ready is under way.
    bool disarm(Fiber *fiber) {
        const bool disarmed = waiter_.compare_exchange_strong(
            fiber, nullptr, std::memory_order_acq_rel, std::memory_order_acquire);
        SENNIT_ASSERT(disarmed || fiber == mark());
        return disarmed;
    }
    // Called once for each time that somebody waits. The cell may be gone when this returns.
    inline void signal();
    // The same, also from a signal handler.
    inline void signal_from_anywhere();
    // For who cannot know whether a fiber is armed. The fiber may be woken for nothing.
    inline void signal_if_armed();
    // The signal, where the caller makes the fiber go on. Null: it does not wait yet.
    Fiber *signal_and_take() {
        Fiber *const fiber = waiter_.exchange(mark(), std::memory_order_acq_rel);
        return fiber == mark() ? nullptr : fiber;
    }
    void reset() { waiter_.store(nullptr, std::memory_order_relaxed); }
    // While nobody uses the cell for a wait, it keeps a fiber for its owner.
    void keep(Fiber *fiber) { waiter_.store(fiber, std::memory_order_relaxed); }
    Fiber *kept() const { return waiter_.load(std::memory_order_relaxed); }

  private:
    static Fiber *mark() { return reinterpret_cast<Fiber *>(1); }
    Atomic<Fiber *> waiter_{nullptr};
};

// What a fiber waits for. done() is polled before the fiber arms; arm() registers the fiber for
// make_ready or returns false because the condition holds by now; disarm() takes that back or
// returns false because make_ready is under way.
class Condition : public Wait {
  public:
    virtual bool done() = 0;
    virtual bool arm(Fiber *fiber) = 0;
    virtual bool disarm(Fiber *fiber) = 0;

    // Which ready tasks may run on top of the waiting fiber. They "bury" it: it cannot go on before
    // they have ended. So only tasks that must end before the condition can hold.
    enum class Bury { nothing, accepted, own_group };
    Bury bury = Bury::nothing;
    virtual bool accepts(const Item *) { return false; }
    // Where there is no stack for another task: one that it accepts, and that the worker of the
    // waiting task may run, wherever in the queues of that one's team it is. The condition does not
    // hold before it has ended. Once somebody waits.
    virtual Item *take_accepted() { return nullptr; }
    // Where what it accepts becomes ready, the worker is not told: it is no thread of that team.
    bool beyond_team = false;
    // Without memory for a stack, may any task run on top of the waiting fiber? Not where the fiber
    // waits for a lock: it may be the one that is woken for it, and then no other is.
    bool may_be_buried = true;
    // Does the fiber wait awake for a while before it parks (patience() in tasks/sched/worker.h)?
    // At barriers and docks.
    bool patient = false;

  protected:
    Condition(WaitFor kind, const void *object) : Wait{kind, object} {}
    ~Condition() = default;
};

class CellCondition final : public Condition {
  public:
    CellCondition(WaitCell &cell, WaitFor kind, const void *object = nullptr)
        : Condition(kind, object), cell_(cell) {}
    bool done() override { return cell_.signalled(); }
    bool arm(Fiber *fiber) override { return cell_.arm(fiber); }
    bool disarm(Fiber *fiber) override { return cell_.disarm(fiber); }

  private:
    WaitCell &cell_;
};

} // namespace sennit::sched
