// SPDX-License-Identifier: Apache-2.0
// The chunks [low, high) of a loop that one thread still has to do. Idle threads can steal from it.
//
// It follows the protocol of Cilk-5 (Frigo, Leiserson, Randall, PLDI 1998, "THE"). The owner takes
// from the low end, with a store and a load. A thief takes from the high end, under the lock. Each
// publishes its move before it looks at the other's. The fence between the two is asymmetric
// (base/fence.h). The owner, which comes once for each chunk, pays nothing. The thief pays a
// membarrier.
//
// tests/schedules/ranges_test.cpp runs it under every schedule of two threads, and breaks it at
// each of its places.
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
    // Set the range. Called while no other thread can look.
    void assign(std::uint64_t first, std::uint64_t last) {
        low_.store(first, std::memory_order_relaxed);
        high_.store(last, std::memory_order_relaxed);
    }
    // Chunks from `chunk` on are offered to others: a hint, for thieves that heed it. A range for
    // which it is used has to set it each time that it is filled.
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
    // Take several chunks at once: as many as are left, but at most `most`. 0: none is left.
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

    // Any thread: take the upper half of the chunks that are left from `from` on, but not more than
    // `most`. False: there is none, or the owner was faster.
    bool steal(std::uint64_t *first, std::uint64_t *last, std::uint64_t from, std::uint64_t most);
    // The same, if may() says so. It is asked under the range's lock: what the owner did before it
    // filled the range has happened by then.
    template <class May>
    bool steal_if(May may, std::uint64_t *first, std::uint64_t *last, std::uint64_t from,
                  std::uint64_t most);
    bool steal_half(std::uint64_t *first, std::uint64_t *last) {
        return steal(first, last, 0, ~std::uint64_t{0});
    }
    // How many chunks are left from `from` on: a hint. While a thief is at work, 0 does not mean
    // that none is left, not even for the owner: the thief may give chunks back. take() tells for
    // certain.
    std::uint64_t left(std::uint64_t from = 0) const {
        const std::uint64_t low = std::max(low_.load(std::memory_order_relaxed), from);
        const std::uint64_t end = high_.load(std::memory_order_relaxed);
        return low < end ? end - low : 0;
    }
    // For the owner, when take() has found nothing: the chunk where it would have gone on. The
    // chunks behind it were stolen.
    std::uint64_t stopped_at() const { return low_.load(std::memory_order_relaxed); }

  private:
    bool take_slow(std::uint64_t mine) { return take_some_slow(mine, 1) != 0; }
    std::uint64_t take_some_slow(std::uint64_t mine, std::uint64_t most);

    Atomic<std::uint64_t> low_{0};
    Atomic<std::uint64_t> high_{0};
    Atomic<std::uint64_t> offered_from_{0};
    SpinLock lock_; // for thieves, and for an owner that meets one
};

template <class May>
bool StealableRange::steal_if(May may, std::uint64_t *first, std::uint64_t *last,
                              std::uint64_t from, std::uint64_t most) {
    const Guard guard(lock_);
    const std::uint64_t high = high_.load(std::memory_order_relaxed);
    const std::uint64_t count = left(from);
    const std::uint64_t middle = high - std::min((count + 1) / 2, most);
    if (count == 0 || !may())
        return false;
    high_.store(middle, std::memory_order_relaxed);
    // From here on the owner sees `middle`, unless we see that it took more.
    fence_heavy();
    const bool stolen = low_.load(std::memory_order_relaxed) <= middle;
    if (!stolen)
        high_.store(high, std::memory_order_relaxed);
    *first = middle;
    *last = high;
    return stolen;
}

} // namespace sennit::omp
