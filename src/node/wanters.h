// SPDX-License-Identifier: Apache-2.0
// Which processes of a board want a core: how many threads of each slot do, and a bit for each slot
// that has any. Who gives a core looks at the bits alone, two cache lines for all slots.
//
//   a thread that wants one        a thread that wants one no more
//   1. count + 1                   1. count - 1; if others are left, that is all
//   2. sets the bit                2. clears the bit
//   3. fence                       3. looks at the count once more: others have come, sets the bit
//   4. looks for a free core       4. fence, looks for a free core, passes it on (Share)
//
// So where a count is not 0 and nobody is at one of these steps, the bit is set: if 2. on the right
// comes last, it sees the count that was raised before 2. on the left (release, acquire). Who gives
// a core while the bit is off between 2. and 3. on the right tells nobody; then the fence and the
// look of 4. find that core.
//
// Who dies between two steps leaves a bit too many, or a count without its bit. Nobody waits for
// what is left of it, and who sweeps its slot clears both (reset).
#pragma once

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
        if (counts_[slot].fetch_sub(1, std::memory_order_relaxed) != 1)
            return;
        word(slot).fetch_and(~bit(slot), std::memory_order_acq_rel); // pairs with add()
        if (count(slot) > 0)
            word(slot).fetch_or(bit(slot), std::memory_order_release);
    }
    // The slot's process has died, or left. By one process at a time; who dies in it leaves the
    // rest to the next one.
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
    // The same as a hint.
    bool seem() const {
        std::uint64_t all = 0;
        for (const std::atomic<std::uint64_t> &word : words_)
            all |= word.load(std::memory_order_relaxed);
        return all != 0;
    }

  private:
    static constexpr int kBits = 64;
    std::atomic<std::uint64_t> &word(int slot) { return words_[slot / kBits]; }
    static std::uint64_t bit(int slot) { return std::uint64_t{1} << (slot % kBits); }

    alignas(64) std::atomic<std::uint64_t> words_[kSlots / kBits];
    alignas(64) std::atomic<std::int32_t> counts_[kSlots];
    static_assert(kSlots % kBits == 0);
};

} // namespace sennit::node
