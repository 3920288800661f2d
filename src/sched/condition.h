// SPDX-License-Identifier: Apache-2.0
// What a fiber waits for, and how it is registered for the wake-up: WaitCell is one signal for one
// fiber, Condition the general form.
//
// The signals are inline and need the complete Worker: sched/worker.h has them.
#pragma once

#include "base/assert.h"
#include "sched/fiber.h"
#include "sched/wait.h"

#include <atomic>

namespace sennit::sched {

struct Node;

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
    void reset() { waiter_.store(nullptr, std::memory_order_relaxed); }

  private:
    static Fiber *mark() { return reinterpret_cast<Fiber *>(1); }
    std::atomic<Fiber *> waiter_{nullptr};
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
    virtual bool accepts(const Node *) { return false; }
    // Does the fiber wait awake for a while before it parks (Worker::patience)? At barriers and
    // docks.
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
