// SPDX-License-Identifier: Apache-2.0
// Ranks that sleep until another rank has called MPI.
//
// A send that is not over needs the receiver: it has to take the message. It does so in some call
// of MPI, and does not know that the sender sleeps, or that the send is a synchronous one. So the
// sender says in its own slot whom it asks, and marks the slot of that rank. Who leaves MPI looks
// at its mark, and rings those that ask it. A rank that waits for a collective call, or for several
// requests, may ask more than one.
//
//   the sender                        the receiver
//   1. arms its bell                  1. takes the message, in MPI
//   2. ask(), mark(), fence           2. fence
//   3. tests once more, sleeps        3. take_mark(): rings those that ask it
//
// At least one of the two sees the other (node/bell.h). The bell is armed before the mark, or the
// receiver might take the mark, which it does for any message, and ring in vain. Of several threads
// of a rank that ask, the last one counts: the others sleep until their timers end.
#pragma once

#include <atomic>
#include <cstdint>

namespace sennit::node {

class alignas(64) Asking {
  public:
    static constexpr std::int32_t kNobody = 0;
    static constexpr std::int32_t kAnybody = -1; // that is marked

    // The slot of the caller's own rank: it asks the one in that slot.
    void ask(int slot) { asks_.store(slot + 1, std::memory_order_relaxed); }
    void ask_anybody() { asks_.store(kAnybody, std::memory_order_relaxed); }
    void ask_nobody() { asks_.store(kNobody, std::memory_order_relaxed); }
    bool asks(int slot) const {
        const std::int32_t asked = asks_.load(std::memory_order_relaxed);
        return asked == slot + 1 || asked == kAnybody;
    }

    // The slot of the one that is asked. The release pairs with take_mark(): who takes the mark
    // sees who asks.
    void mark() { marked_.store(1, std::memory_order_release); }
    bool take_mark() {
        return marked_.load(std::memory_order_relaxed) != 0 &&
               marked_.exchange(0, std::memory_order_acquire) != 0;
    }

  private:
    std::atomic<std::int32_t> asks_; // slot + 1
    std::atomic<std::uint32_t> marked_;
};

} // namespace sennit::node
