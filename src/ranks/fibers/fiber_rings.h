// SPDX-License-Identifier: Apache-2.0
// The part of the crew that ranks can reach: the set of the fibers that somebody has rung for, the
// table of all fibers, and the means to wake a carrier.
//
// A rank may be killed at any instruction, so it must never hold a lock that others need. Therefore
// a rank that rings for a fiber only puts it into a set, and carriers take all that is in it at
// once (crew.h). A rank that is killed before that has not rung: the time limit of the fiber makes
// up for it. If it is killed before it has woken a carrier, the watcher's next tick finds the
// fiber. Later rings reach the fiber in both cases (rung_set.h).
//
// No wake-up is lost between a fiber that goes to wait and a thread that rings for it:
//
//   the thread that rings                  the carrier that the fiber leaves (or its home thread)
//   1. changes a word                      1. stage = waiting
//   2. puts the fiber into the set         2. looks at the words; if one has changed, it is ready
//   later, the carrier that takes the set: stage == waiting: ready
//
// If step 2 on the right does not see the change, then the carrier that takes the set sees
// `waiting` (all four are seq_cst). The same holds between the set and a carrier that goes to sleep
// (sleeping_).
//
// A rank of another address space, or a process, cannot reach the set. After it has changed a word
// it sends SIGURG to the host. Then a carrier looks at the words of all fibers that wait (abroad_).
// Where the host has no carrier, the signal is ignored.
#pragma once

#include "base/futex.h"
#include "ranks/fibers/fiber_table.h"
#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <sys/types.h>

namespace sennit::virt {

class FiberRings {
  public:
    explicit FiberRings(const RankFiberCalls &calls);
    FiberRings(const FiberRings &) = delete;
    FiberRings &operator=(const FiberRings &) = delete;

    // Ring for a fiber. Called by any thread of any rank. `self`: the caller, or null if it is no
    // fiber.
    void ring(RankFiber &fiber, const RankFiber *self);
    void hear_abroad();             // somebody who cannot reach the set has changed a word
    void help();                    // make a carrier look at the clock, or at the set
    void poke(pid_t carrier) const; // make this carrier look at the fiber that it runs
    FiberTable &fibers() { return fibers_; }
    bool others_ready() const {
        return ready_count_.load(std::memory_order_relaxed) != 0 ||
               rung_.any(fibers_.end(), std::memory_order_relaxed) ||
               abroad_.load(std::memory_order_relaxed) != 0;
    }
    // Does any carrier run a fiber? A hint.
    bool any_running() const {
        return sleeping_.load(std::memory_order_relaxed) +
                   searching_.load(std::memory_order_relaxed) <
               carriers_end_.load(std::memory_order_relaxed);
    }

    // The nanoseconds of CarrierClock::kOfRate ticks of the processor; 0: not known yet.
    std::uint64_t tick_rate() const { return tick_rate_.load(std::memory_order_relaxed); }

  protected:
    ~FiberRings() = default;

    Atomic<std::int32_t> carriers_end_{0};
    std::atomic<std::int32_t> ready_count_{0}; // written under the crew's lock
    Atomic<std::uint32_t> abroad_{0};          // 1: words have changed, and nobody is in the set
    RungSet rung_;
    alignas(64) Atomic<std::int32_t> searching_{0}; // carriers that look at the set often
    Atomic<std::int32_t> sleeping_{0};
    FutexWord wakes_{0};

    std::atomic<std::uint64_t> tick_rate_{0}; // the watcher writes it

    alignas(64) FiberTable fibers_;

  private:
    pid_t host_;
};

} // namespace sennit::virt
