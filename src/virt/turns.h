// SPDX-License-Identifier: Apache-2.0
// What the ranks reach of the crew that runs their fibers: whom somebody has rung for, who is
// there, and how a worker is woken.
//
// A rank may be killed at any instruction, so none ever holds a lock that others need: who rings
// for a fiber only puts it on a list. Workers take the whole list at once (crew.h). A rank that is
// killed in the middle of a ring loses that one; the fiber's time limit makes up for it.
//
// A wake-up cannot be lost between a fiber that goes to wait and who rings for it:
//
//   who rings                              the worker that the fiber leaves (or its home thread)
//   1. changes a word                      1. place = waiting
//   2. puts the fiber on the list          2. looks at the words: one has changed: ready
//   later, whoever takes the list: place == waiting: ready
//
// If 2 on the right does not see the change, then whoever takes the list sees `waiting` (all four
// are seq_cst). The same holds between the list and a worker that goes to sleep (sleeping_).
#pragma once

#include "base/futex.h"
#include "virt/fiber_table.h"
#include "virt/rank_fiber.h"

#include <atomic>
#include <sys/types.h>

namespace sennit::virt {

class Turns {
  public:
    explicit Turns(const RankFiberCalls &calls);
    Turns(const Turns &) = delete;
    Turns &operator=(const Turns &) = delete;

    // Any thread of any rank; `self`: the caller, null where it is no fiber.
    void ring(RankFiber &fiber, const RankFiber *self);
    void help();                   // a worker is to look at the clock, or at the list
    void poke(pid_t worker) const; // it is to look at the fiber that it runs
    FiberTable &fibers() { return fibers_; }
    bool others_ready() const {
        return ready_count_.load(std::memory_order_relaxed) != 0 ||
               rung_.load(std::memory_order_relaxed) != nullptr;
    }
    // Does any worker run a fiber? A look at some moment.
    bool any_running() const {
        return sleeping_.load(std::memory_order_relaxed) +
                   searching_.load(std::memory_order_relaxed) <
               workers_end_.load(std::memory_order_relaxed);
    }

  protected:
    ~Turns() = default;

    std::atomic<std::int32_t> workers_end_{0};
    std::atomic<std::int32_t> ready_count_{0}; // written under the crew's lock
    alignas(64) std::atomic<RankFiber *> rung_{nullptr};
    alignas(64) std::atomic<std::int32_t> searching_{0}; // workers that look at the list often
    std::atomic<std::int32_t> sleeping_{0};
    FutexWord wakes_{0};

    alignas(64) FiberTable fibers_;

  private:
    pid_t host_;
};

} // namespace sennit::virt
