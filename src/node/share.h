// SPDX-License-Identifier: Apache-2.0
// This process's part of the node's cores (core_table.h). Its threads take a core before they
// compute, and give it back while they wait.
//
// One thread of a process always runs, with a core or without. There are two reasons: all others
// may wait for the progress of this process, and the system's own scheduler serves such threads
// well. Threads beyond the first wait for a core, but at most `patience`. Then they run without
// one, and are counted (CoreUse::late). So programs go on even if their threads wait for each other
// in a way that nobody sees.
//
// A thread that has a core may sleep in the kernel without telling. A thread that waits for a core
// looks for such threads, before it sleeps and after each nap. It takes the core of one of them
// (core_table.h) if the policy would give it that core if it were free.
#pragma once

#include "base/spin.h"
#include "node/board.h"
#include "sennit.h"
#include "wait/rows.h"

#include <optional>
#include <span>

namespace sennit::node {

// Threads that sleep in the kernel with a core of the node.

// The threads as they were found. The use of a core may be over by now (CoreTable::take_over).
class Sleepers {
  public:
    struct One {
        Hold hold;
        int user;             // slot
        std::int64_t used_ns; // since its use began
    };
    // Look for sleepers among the threads that have used one of `cores` for at least kKeptNs. A
    // look at one thread costs some 5 us, so it looks at no more than kLooks of them. It begins at
    // the core `from`, and writes there where the next call is to begin.
    Sleepers(Board &board, const Cores &cores, std::int64_t now, std::atomic<int> &from);
    std::span<const One> all() const { return {found_, static_cast<std::size_t>(count_)}; }

  private:
    static constexpr int kLooks = 8;
    One found_[kLooks];
    int count_ = 0;
};

class Share {
  public:
    constexpr Share() = default;
    Share(const Share &) = delete;
    Share &operator=(const Share &) = delete;

    // Set the longest time that a thread waits for a core. Called before begin().
    void set_patience(std::int64_t longest_ns) { longest_ns_ = longest_ns; }
    // Other processes are not told which kernel threads use the cores, so they take none from a
    // sleeper. Called before begin().
    void hide_threads() { hides_threads_ = true; }
    // Take part with this slot. Called once. The board stays open as long as anybody may call the
    // other functions.
    void begin(Board &board, BoardSlot &slot);
    // Stop taking part: from now on no thread of the process takes cores of the board.
    void end();
    // Called in the child of fork(), which takes no part.
    void abandon();

    bool on() const { return on_.load(std::memory_order_relaxed); }

    // The calling thread is about to compute. Returns the core that it may use, or none: then it
    // runs beyond the cores. `near` is the core that it would like best, or kNobody.
    Hold take(int near);
    // As take(), for a thread that others of the process can do without: it waits only while
    // `needed` is not 0, which it sees within kKeptNs. Nothing: it has not begun to compute.
    std::optional<Hold> take_while(const Atomic<std::int32_t> &needed, int near);
    // As take_while(), but the thread never runs beyond the cores. An empty hold: it has no core,
    // and has not begun to compute. Takes `patience` at most.
    Hold take_spare(const Atomic<std::int32_t> &needed, int near);
    // Could one more thread of the process have a core: one that is free, or one of its own that
    // another process uses? A hint.
    bool could_have_more() const;
    // The calling thread does not compute any more. `hold` is what take() has returned.
    void give(Hold hold);
    // The same, because the thread was to leave the core.
    void give_recalled(Hold hold);
    // The process that owns the core. 0: none, or the process is not known any more.
    int owner_process(int core) const;
    // At a scheduling point: is the thread to leave its core or, without a core, to look for one?
    bool is_to_leave(Hold hold) const {
        return hold ? board_->core_table().is_to_leave(hold) : is_late();
    }
    // Give the core to one that wants it, and take another core.
    Hold leave(Hold hold);

    // Called instead of give(), if the thread may compute again in a moment and stays awake until
    // then. The core rests (core_table.h).
    void rest(Hold hold);
    // Does the core still rest: has nobody taken it since rest()?
    bool still_rests(Hold hold) const { return hold && board_->core_table().rests(hold); }
    // Does a thread of any process wait for a core? A hint.
    bool others_want() const { return board_->core_table().somebody_wants(); }
    // A thread that rested with this core is about to compute; otherwise as take().
    Hold go_on(Hold rested, int near);
    // A thread that rested with this core goes to sleep. Resting cores are given back, except one
    // for each thread of the process that rests awake.
    void sleep(Hold rested);
    // `more` threads that rest are awake. The thread says so itself, or earlier the one that wakes
    // it.
    void count_awake(int more) { awake_.fetch_add(more, std::memory_order_relaxed); }

    // Up to `most` more threads are about to compute. Recalls own cores that others use, and keeps
    // them for a moment. Returns how many cores the process can have: cores that are free now, or
    // will be at their users' next scheduling point.
    int ask(int most);

    // Tell how the cores are used now, for observers.
    void tell(sennit_pool_state &state);

    // Note work done, in any unit: the policy compares it only with what the same program notes.
    void note_progress(std::uint64_t units);

  private:
    bool is_late() const;
    Hold try_take(int near);
    Hold borrow();
    enum class Beyond : bool { never, late }; // the cores: does the thread run there in the end?
    std::optional<Hold> wait_for_core(int near, const Atomic<std::int32_t> *needed,
                                      Beyond beyond = Beyond::late);
    const Sleepers::One *choose(const Sleepers &sleepers);
    Hold take_from_sleeper(std::int64_t now);
    Hold take_inside(int near);
    Hold begin_use(Hold hold, int near);
    Hold note_begin(Hold hold);
    void count_recalled(Hold hold);
    // The thread computes no more. Returns whether it was the last one of the process.
    bool give_inside(Hold hold);
    bool stop();
    void note_end(Hold hold); // before the use ends: note the time that it has taken
    void give_what_rests(int keep, Hold first = {});
    void pass_on(int core);
    void recall();
    void sweep(std::int64_t now);
    void be_patient(bool more);

    // A thread inside: end() waits until there is none.
    class Inside {
      public:
        explicit Inside(Share &share) : share_(share) {
            share.inside_.fetch_add(1, std::memory_order_seq_cst);
        }
        ~Inside() { share_.inside_.fetch_sub(1, std::memory_order_release); }
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;
        // seq_cst with end(): end() sees that we are in, or we see that it is over.
        explicit operator bool() const { return share_.on_.load(std::memory_order_seq_cst); }

      private:
        Share &share_;
    };

    std::atomic<bool> on_{false};
    std::atomic<int> inside_{0};
    Board *board_ = nullptr;
    BoardSlot *slot_ = nullptr;
    int number_ = kNobody; // of the slot
    const CorePolicy *policy_ = nullptr;
    std::atomic<int> running_{0}; // threads that compute, with a core or without
    std::atomic<int> awake_{0};   // threads that rest, and are not asleep
    std::int64_t longest_ns_ = wait::kPatienceForCore.longest_ns;
    std::atomic<std::int64_t> patience_ns_{0}; // it adapts
    std::atomic<std::int64_t> next_sweep_ns_{0};
    bool hides_threads_ = false;
    bool tells_threads_ = false;                // which kernel threads use its cores
    std::atomic<std::int64_t> next_look_ns_{0}; // for sleepers; the thread that moves it on looks
    std::atomic<int> look_from_{0};             // the core at which the next look begins
};

} // namespace sennit::node
