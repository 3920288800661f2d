// SPDX-License-Identifier: Apache-2.0
// The fibers of one address space, and their memory. Any thread of any rank may add a fiber. It
// runs with the rank's thread pointer, so it uses no lock, no thread-local variable and no libc.
//
// A fiber that is not used any more goes to the next one that needs a fiber. Its memory stays until
// the host ends, because others may still ring for it.
#pragma once

#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

// The fibers of an address space that somebody has rung for, by their numbers.
//
// A rank may be killed at any instruction. Therefore a ring is one atomic operation, which sets the
// fiber's bit: it is done, or it has not begun. So no rank leaves behind anything that would keep
// out the next ring. The thread that takes the set clears the bits of a word before it looks at
// their fibers. From then on they may be rung for again.

class RungSet {
  public:
    static constexpr int kMost = 4096;

    // `first`: no other one of its word was in the set just before. A hint.
    enum class Added { first, further, again };
    // Any thread of any rank.
    Added add(std::int32_t number) {
        const auto index = static_cast<std::uint32_t>(number);
        Atomic<std::uint64_t> &word = words_[index / kBits];
        const std::uint64_t bit = std::uint64_t{1} << (index % kBits);
        const bool first = word.load(std::memory_order_relaxed) == 0;
        if ((word.fetch_or(bit) & bit) != 0) // nothing else of the result: no loop (lock bts)
            return Added::again;
        return first ? Added::first : Added::further;
    }
    // Is any of the first `count` fibers in the set?
    bool any(std::int32_t count, std::memory_order order = std::memory_order_seq_cst) const {
        for (std::int32_t i = 0; i * kBits < count; ++i)
            if (words_[i].load(order) != 0)
                return true;
        return false;
    }
    // Take those of the first `count` out, and visit each of them, in the order of their numbers.
    template <class Visit>
    void take(std::int32_t count, Visit visit) {
        for (std::int32_t i = 0; i * kBits < count; ++i) {
            if (words_[i].load(std::memory_order_relaxed) == 0)
                continue;
            for (std::uint64_t taken = words_[i].exchange(0); taken != 0; taken &= taken - 1)
                visit(i * kBits + std::countr_zero(taken));
        }
    }

  private:
    static constexpr std::int32_t kBits = 64;
    alignas(64) Atomic<std::uint64_t> words_[kMost / kBits] = {};
};

class FiberTable {
  public:
    static constexpr int kMostFibers = RungSet::kMost;

    FiberTable(const RankFiberCalls &calls, FiberRings &rings);
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
    FiberRings &rings_;
    const std::size_t frame_size_;
    Atomic<std::int32_t> end_{0};
    std::atomic<RankFiber *> fibers_[kMostFibers] = {}; // null: not made yet
};

} // namespace sennit::virt
