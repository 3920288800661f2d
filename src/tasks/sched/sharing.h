// SPDX-License-Identifier: Apache-2.0
// Begin and end of sharing the node's cores with other processes (tasks/sched/sharing.h).
#pragma once

#include "node/board.h"
#include "node/share.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

// Take part, with a slot of a board that stays mapped. The calling thread computes. Once.
void begin_sharing(node::Board &board, node::Slot &slot);
void end_sharing();
// Could one more thread have a core now? A hint.
bool could_have_more_cores();
void forget_sharing(); // in the child of fork()

// The process's part of the node's cores, where it shares them with other processes: a worker takes
// one before it computes, and lends it while it waits (node/share.h).
//
// Off, it costs the scheduling points nothing: they look further only where poll::due() says so.

namespace detail {
[[gnu::visibility("hidden")]] extern node::Share g_share;
}
inline node::Share &share() {
    return detail::g_share;
}
inline bool shares_cores() {
    return detail::g_share.on();
}

// The time slice of a worker's thread (base/time_slice.h), which is short while its process shares
// the node's cores, so that a core moves soon.
//
// Invariant: a thread whose slice was shortened here gets back the one that it had, when sharing
// ends or in a child of fork(). A thread inherits the slice of the thread that creates it; a
// worker's thread gets back that one's former slice.

class ShortSlice {
  public:
    // A thread may come back to a core that another one still uses, or be woken behind a thread
    // that computes: it runs when that one's slice ends. This is the shortest that Linux grants.
    static constexpr std::uint64_t kShortNs = 100'000;

    // Shorten the slice of the calling thread, whose own object this is. At the first call only.
    // `still()`: is the process to have short slices? When it is no more, end() is called for each
    // thread.
    void begin(bool (*still)()) {
        if (former_ns_.load(std::memory_order_relaxed) == kUntried)
            shorten(still);
    }
    // The slice stays as it is.
    void leave() { former_ns_.store(kLeft, std::memory_order_relaxed); }

    // Give the thread its former slice back. `thread` is its number since before begin(). Called by
    // any thread, after a seq_cst fence from which on still() says no.
    void end(const std::atomic<int> &thread);
    // The thread ends: nobody is to change the slice of another thread that gets its number.
    void forget() { former_ns_.store(kUntried, std::memory_order_relaxed); }

    // The thread that is about to create this one calls note_creator(), the new one put_right().
    void note_creator(const ShortSlice *creator) {
        inherited_ns_ = creator ? creator->former_ns_.load(std::memory_order_relaxed) : kUntried;
    }
    void put_right();

  private:
    // Else: the slice that it had. No slice is as short as these.
    static constexpr std::uint64_t kUntried = 0;
    static constexpr std::uint64_t kLeft = 1;
    void shorten(bool (*still)());

    std::atomic<std::uint64_t> former_ns_{kUntried};
    std::uint64_t inherited_ns_ = kUntried;
};

} // namespace sennit::sched
