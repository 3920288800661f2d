// SPDX-License-Identifier: Apache-2.0
// The fibers of one address space, and their memory. Any thread of any rank may add a fiber. It
// runs with the rank's thread pointer, so it uses no lock, no thread-local variable and no libc.
//
// A fiber that is not used any more goes to the next one that needs a fiber. Its memory stays until
// the host ends, because others may still ring for it.
#pragma once

#include "virt/rank_fiber.h"
#include "virt/rung_set.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

class FiberTable {
  public:
    static constexpr int kMostFibers = RungSet::kMost;

    FiberTable(const RankFiberCalls &calls, Turns &turns);
    FiberTable(const FiberTable &) = delete;
    FiberTable &operator=(const FiberTable &) = delete;

    // Add a fiber for a thread of the rank whose main flow is `main`. If `main` is null, the fiber
    // is for the main flow of a new rank. Returns null if there is no memory, or if there are too
    // many fibers.
    RankFiber *add(RankFiber *main);
    // The main flow of the rank with this process number, or null.
    RankFiber *find(pid_t process) const;
    // Fibers have numbers below this one. seq_cst, as rings for them are.
    std::int32_t end() const { return end_.load(); }
    // Null: it is not made yet.
    RankFiber *at(std::int32_t number) const {
        return fibers_[number].load(std::memory_order_acquire);
    }
    template <class Visit>
    void each(Visit visit) const {
        for (std::int32_t i = 0; i < end_.load(std::memory_order_acquire); ++i)
            if (RankFiber *const fiber = at(i))
                visit(*fiber);
    }

  private:
    RankFiber *take_unused() const;
    RankFiber *make();

    const RankFiberCalls &calls_;
    Turns &turns_;
    const std::size_t frame_size_;
    std::atomic<std::int32_t> end_{0};
    std::atomic<RankFiber *> fibers_[kMostFibers] = {}; // null: not made yet
};

} // namespace sennit::virt
