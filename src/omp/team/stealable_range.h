// SPDX-License-Identifier: Apache-2.0
// The chunks [low, high) that one thread of a loop has still to do. Idle threads can steal from it.
//
// After the protocol of Cilk-5 (Frigo, Leiserson, Randall, PLDI 1998, "THE"). The owner takes from
// the low end with a store and a load. A thief takes from the high end under the lock. Each
// publishes its move before it looks at the other's. The fence between the two is asymmetric
// (base/fence.h): the owner, who comes once a chunk, pays nothing; the thief pays a membarrier.
//
// Model: tests/unit/ranges_interleavings_test.cpp.
#pragma once

#include "base/compiler.h"
#include "base/fence.h"
#include "base/spin.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::omp {

class alignas(kCacheLine) StealableRange {
  public:
    // While no other thread can look.
    void assign(std::uint64_t first, std::uint64_t last) {
        low_.store(first, std::memory_order_relaxed);
        high_.store(last, std::memory_order_relaxed);
    }
    // From here on its chunks are offered to others: a hint to thieves who heed it. Whoever uses
    // it says so each time that the range is filled.
    void offer_from(std::uint64_t chunk) { offered_from_.store(chunk, std::memory_order_relaxed); }
    std::uint64_t offered_from() const { return offered_from_.load(std::memory_order_relaxed); }
    // The owner's next chunk; false when none is left.
    bool take(std::uint64_t *chunk) {
        const std::uint64_t mine = low_.load(std::memory_order_relaxed);
        low_.store(mine + 1, std::memory_order_relaxed);
        fence_light(); // pairs with fence_heavy in steal
        *chunk = mine;
        return SENNIT_LIKELY(mine < high_.load(std::memory_order_relaxed)) || take_slow(mine);
    }
    // The same of several at once: as many as are left, `most` at most; 0: none is.
    std::uint64_t take_some(std::uint64_t most, std::uint64_t *first) {
        const std::uint64_t mine = low_.load(std::memory_order_relaxed);
        low_.store(mine + most, std::memory_order_relaxed);
        fence_light(); // pairs with fence_heavy in steal
        *first = mine;
        return SENNIT_LIKELY(mine + most <= high_.load(std::memory_order_relaxed))
                   ? most
                   : take_some_slow(mine, most);
    }
    // The owner puts what it stole into its empty range.
    void refill(std::uint64_t first, std::uint64_t last);

    // Anybody: the upper half of what is left, of chunks from `from` on, but not more than `most`.
    // False when there is none or the owner was faster.
    bool steal(std::uint64_t *first, std::uint64_t *last, std::uint64_t from, std::uint64_t most);
    bool steal_half(std::uint64_t *first, std::uint64_t *last) {
        return steal(first, last, 0, ~std::uint64_t{0});
    }
    // A hint, of chunks from `from` on. None, while a thief is at work, does not mean that none is
    // left, not even to the owner: the thief may give back. take() says so for certain.
    std::uint64_t left(std::uint64_t from = 0) const {
        const std::uint64_t low = std::max(low_.load(std::memory_order_relaxed), from);
        const std::uint64_t high = high_.load(std::memory_order_relaxed);
        return low < high ? high - low : 0;
    }
    // The owner, when take() has found nothing: where it would have gone on. What was behind it is
    // stolen.
    std::uint64_t stopped_at() const { return low_.load(std::memory_order_relaxed); }

  private:
    bool take_slow(std::uint64_t mine) { return take_some_slow(mine, 1) != 0; }
    std::uint64_t take_some_slow(std::uint64_t mine, std::uint64_t most);

    std::atomic<std::uint64_t> low_{0};
    std::atomic<std::uint64_t> high_{0};
    std::atomic<std::uint64_t> offered_from_{0};
    SpinLock lock_; // thieves, and the owner where it meets one
};

} // namespace sennit::omp
