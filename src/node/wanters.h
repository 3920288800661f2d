// SPDX-License-Identifier: Apache-2.0
// Which processes of a board want a core. Each slot has a count of its threads that want one, and a
// bit that is set if the count is not 0. A thread that gives a core looks at the bits alone: two
// cache lines for all slots.
//
//   a thread that wants a core     a thread that wants one no more
//   1. count + 1                   1. count - 1; if others are left, that is all
//   2. sets the bit                2. clears the bit
//   3. fence                       3. looks at the count again; if others have come, sets the bit
//   4. looks for a free core       4. fence, looks for a free core, passes it on (Share)
//
// Invariant: if a count is not 0, and no thread is at one of these steps, the bit is set. For if
// step 2 on the right comes last, it sees the count that was raised before step 2 on the left
// (release, acquire). A giver that looks between steps 2 and 3 on the right finds the bit clear and
// tells nobody. Then step 4 on the right, with its fence, finds that core.
//
// A process that dies between two steps leaves a bit too many, or a count without its bit. Nobody
// waits for the dead process. The process that sweeps its slot clears both (reset).
#pragma once

#include "base/assert.h"

#include <atomic>
#include <cstdint>

namespace sennit::node {

template <int kSlots>
class Wanters {
  public:
    void add(int slot) {
        counts_[slot].fetch_add(1, std::memory_order_relaxed);
        word(slot).fetch_or(bit(slot), std::memory_order_release); // pairs with remove()
        std::atomic_thread_fence(std::memory_order_seq_cst);       // pairs with any()
    }
    void remove(int slot) {
        const std::int32_t before = counts_[slot].fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        if (before != 1)
            return;
        word(slot).fetch_and(~bit(slot), std::memory_order_acq_rel); // pairs with add()
        if (count(slot) > 0)
            word(slot).fetch_or(bit(slot), std::memory_order_release);
    }
    // The slot's process has died, or left. Called by one process at a time. If that one dies
    // meanwhile, the next one does the rest.
    void reset(int slot) {
        counts_[slot].store(0, std::memory_order_relaxed);
        word(slot).fetch_and(~bit(slot), std::memory_order_relaxed);
    }
    int count(int slot) const { return counts_[slot].load(std::memory_order_relaxed); }
    // Does anybody want a core that the caller has freed before?
    bool any() const {
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with add()
        return seem();
    }
    // The same without the fence: a hint.
    bool seem() const {
        std::uint64_t all = 0;
        for (const std::atomic<std::uint64_t> &word : words_)
            all |= word.load(std::memory_order_relaxed);
        return all != 0;
    }

  private:
    static constexpr int kBits = 64;
    std::atomic<std::uint64_t> &word(int slot) { return words_[slot / kBits]; }
    static std::uint64_t bit(int slot) {
        return std::uint64_t{1} << (static_cast<unsigned>(slot) % kBits);
    }

    alignas(64) std::atomic<std::uint64_t> words_[kSlots / kBits];
    alignas(64) std::atomic<std::int32_t> counts_[kSlots];
    static_assert(kSlots % kBits == 0);
};

} // namespace sennit::node
