// SPDX-License-Identifier: Apache-2.0
// Begin and end of sharing the node's cores with other processes (tasks/sched/sharing.h).
#pragma once

#include "base/spin.h"
#include "node/board.h"
#include "node/share.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

// Take part, with a slot of a board that stays mapped. The calling thread computes. Once.
void begin_sharing(node::Board &board, node::BoardSlot &slot);
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

    Atomic<std::uint64_t> former_ns_{kUntried};
    std::uint64_t inherited_ns_ = kUntried;
};

// A worker's seat: the core that it holds, or had last, where processes share cores, and how the
// worker counts at its process's part of them.
//
// Invariant: a worker that computes is counted among those that use a core, also where it found
// none. A worker that rests is counted among those that are awake without work.
//
// The worker's own thread calls it. Only end_short_slice() is for any thread.

class Seat {
  public:
    // `tasks`: those that the worker has created. The policy is told of them.
    explicit Seat(const std::atomic<std::uint64_t> &tasks) : tasks_(tasks) {}

    // Before the worker computes; while it waits, which may take long, or end in a moment.
    void need();
    void lend();
    void rest();
    // As need(), where others can do without the worker: wait for a core as long as `needed` is not
    // 0, though not for long. False: it has none, and does not compute.
    bool take_spare(const Atomic<std::int32_t> &needed);
    bool is_to_leave() const;
    bool has_core() const { return use_ == Use::computes && hold_; }
    // At a chunk of a loop: is the core to be left?
    void pass_chunk();
    // At a scheduling point.
    void look();

    // How long a worker without work waits awake, in ticks().
    std::uint64_t patience();
    // Before and after the thread sleeps in the kernel. fall_asleep() is false where nothing was
    // counted. `woken`: another thread has woken this one, and has counted it.
    bool fall_asleep();
    void wake_up(bool fell_asleep, bool woken);

    // `thread`: the number of the worker's thread.
    void end_short_slice(const std::atomic<int> &thread) { slice.end(thread); }
    void forget(const std::atomic<int> &thread); // in the child of fork()

    ShortSlice slice; // the pool's (tasks/sched/threads.cpp), at both ends of the thread

  private:
    enum class Use : unsigned char { none, computes, rests };
    void shorten_slice();
    void tell_progress(std::uint64_t waits);

    Use use_ = Use::none;
    node::Hold hold_;
    const std::atomic<std::uint64_t> &tasks_;
    std::uint64_t tasks_told_ = 0;
    std::uint64_t chunks_ = 0; // passed, and not told
    std::uint64_t next_chunk_look_ = 0;
};

} // namespace sennit::sched
