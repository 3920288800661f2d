// SPDX-License-Identifier: Apache-2.0
// Roaming fibers: stacks of untied tasks that may go on on another worker once they were suspended.
//
// A worker carries a roaming fiber: it calls it from the fiber that it is on, and has that fiber
// back when the roaming one leaves, at its end or because its task is suspended (Worker::carry). So
// nothing of the roaming fiber is known to a worker that does not carry it: no list, no inbox.
// While it is carried it is that worker's as any other fiber. What waits on it otherwise, for
// children or for a lock say, is parked and stays.
//
// Invariant: a roaming fiber is free on one worker, carried by one, or away. It is told to nobody
// before the carrying worker is off its stack, so nobody can carry it too early.
#pragma once

#include "base/compiler.h"
#include "base/guard.h"
#include "base/spin.h"
#include "tasks/fiber/context.h"
#include "tasks/sched/fiber.h"

#include <atomic>

namespace sennit::sched {

struct Item;

struct RoamingFiber : Fiber {
    void (*body)(RoamingFiber &self) = nullptr;
    Item *item = nullptr;       // whose body it runs
    fiber::FpControl control{}; // it begins with
    Fiber *carrying = nullptr;  // the fiber that called it; null: it is away or free
    bool over = false;          // its body has returned
};

// Fibers of a worker that have nothing to run. Its own thread alone.
class RoamingFibers {
  public:
    // Null: there is no memory for its stack.
    RoamingFiber *take(void (*body)(RoamingFiber &self), Item *item);
    void give_back(RoamingFiber &fiber);

  private:
    Fiber *free_ = nullptr;
    int count_ = 0;
};

// visit(fiber) for each roaming fiber of the process, carried, away or free; from any thread. Their
// stacks stay mapped meanwhile.
namespace detail {
struct AllRoaming {
    SpinLock lock;
    Fiber *first SENNIT_GUARDED_BY(lock) = nullptr;
};
extern AllRoaming g_roaming;
} // namespace detail
template <class Visit>
void each_roaming(Visit visit) {
    const Guard guard(detail::g_roaming.lock);
    for (Fiber *fiber = detail::g_roaming.first; fiber; fiber = fiber->listed_next)
        visit(static_cast<RoamingFiber &>(*fiber));
}
void roaming_after_fork_in_child();

// Suspended tasks that no worker has, in the whole process: numbers for reports, so relaxed.
class RoamingTasks {
  public:
    int now() const { return now_.load(std::memory_order_relaxed); }
    int most() const { return most_.load(std::memory_order_relaxed); }
    void leave() {
        const int count = now_.fetch_add(1, std::memory_order_relaxed) + 1;
        int most = most_.load(std::memory_order_relaxed);
        while (most < count &&
               !most_.compare_exchange_weak(most, count, std::memory_order_relaxed)) {
        }
    }
    void go_on() { now_.fetch_sub(1, std::memory_order_relaxed); }

  private:
    std::atomic<int> now_{0};
    std::atomic<int> most_{0};
};
RoamingTasks &roaming_tasks();

} // namespace sennit::sched
