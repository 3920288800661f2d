// SPDX-License-Identifier: Apache-2.0
// This process's part of the node's cores (core_table.h): its threads take one before they compute
// and give it while they wait.
//
// One thread of a process always runs, with a core or without: that a process alone makes no
// progress may be what all others wait for, and the system's own scheduler serves such threads
// well. Threads beyond it wait for a core, at most `patience`; then they run without one, counted
// as overdue. So programs whose threads wait for each other in ways that nobody sees go on.
//
// A thread that has a core may sleep in the kernel without telling. Who waits for one
// looks for such threads before it sleeps and after each nap, and takes a core of theirs
// (core_table.h) that the policy would give it if it were free.
#pragma once

#include "node/board.h"
#include "node/sleepers.h"
#include "sennit.h"

namespace sennit::node {

class Share {
  public:
    constexpr Share() = default;
    Share(const Share &) = delete;
    Share &operator=(const Share &) = delete;

    // The longest time that a thread waits for a core; before begin().
    void set_patience(std::int64_t longest_ns) { longest_ns_ = longest_ns; }
    // Take part with this slot. Once; the board stays open while anybody may call the rest.
    void begin(Board &board, Slot &slot);
    // No thread of the process computes under the board any more.
    void end();
    // In the child of fork(): it takes no part.
    void abandon();

    bool on() const { return on_.load(std::memory_order_relaxed); }

    // The calling thread is about to compute: the core that it may use, or none, then it runs
    // beyond the cores. `near`: the one that it would like best, or kNobody.
    Hold take(int near);
    // It does not compute any more; what take() has returned.
    void give(Hold hold);
    // The process that owns the core; 0: none, or it is not known any more.
    int owner_process(int core) const;
    // At a scheduling point: is it to leave the core, or, without one, to look for one?
    bool is_to_leave(Hold hold) const {
        return hold ? board_->core_table().is_to_leave(hold) : is_late();
    }
    // give() to who wants it, take() another one.
    Hold leave(Hold hold);

    // It does not compute, but may again in a moment, and stays awake until then: instead of
    // give(). The core rests (core_table.h).
    void rest(Hold hold);
    // Has nobody taken the core since?
    bool still_rests(Hold hold) const { return hold && board_->core_table().rests(hold); }
    // Does somebody, of whatever process, wait for a core? A hint.
    bool others_want() const { return board_->core_table().somebody_wants(); }
    // Who rested, with this core, is about to compute: take().
    Hold go_on(Hold rested, int near);
    // Who rested, with this core, goes to sleep. What rests is given, but for those of its process
    // who are awake.
    void sleep(Hold rested);
    // One more that rests is awake; said by it, or before that by who wakes it.
    void count_awake(int more) { awake_.fetch_add(more, std::memory_order_relaxed); }

    // Up to `most` more threads are about to compute. Own cores that others use are recalled, and
    // kept for a moment. How many it can have: free now, or at their users' next scheduling point.
    int ask(int most);

    // How its cores are used now, for those who look on.
    void tell(sennit_pool_state &state);

    // Work done, in whatever unit: the policy compares it with itself only.
    void note_progress(std::uint64_t units);

  private:
    static constexpr std::int64_t kPatienceNs = 20'000'000;

    bool is_late() const;
    Hold try_take(int near);
    Hold borrow();
    Hold wait_for_core(int near);
    const Sleepers::One *choose(const Sleepers &sleepers);
    Hold take_from_sleeper(std::int64_t now);
    Hold take_inside(int near, bool waits);
    Hold begin_use(Hold hold, int near, bool waits);
    // The thread computes no more. Was it the last one of the process?
    bool give_inside(Hold hold);
    bool stop();
    void note_end(Hold hold); // before that: what it has used
    void give_what_rests(int keep, Hold first = {});
    void pass_on(int core);
    void recall();
    void sweep(std::int64_t now);
    void be_patient(bool more);

    // A thread inside: end() waits until there is none.
    class Entry {
      public:
        explicit Entry(Share &share) : share_(share) {
            share.inside_.fetch_add(1, std::memory_order_seq_cst);
        }
        ~Entry() { share_.inside_.fetch_sub(1, std::memory_order_release); }
        Entry(const Entry &) = delete;
        Entry &operator=(const Entry &) = delete;
        // seq_cst with end(): it sees that we are in, or we see that it is over.
        explicit operator bool() const { return share_.on_.load(std::memory_order_seq_cst); }

      private:
        Share &share_;
    };

    std::atomic<bool> on_{false};
    std::atomic<int> inside_{0};
    Board *board_ = nullptr;
    Slot *slot_ = nullptr;
    int number_ = kNobody; // of the slot
    const Policy *policy_ = nullptr;
    std::atomic<int> running_{0}; // threads that compute, with a core or without
    std::atomic<int> awake_{0};   // that rest, and are not asleep
    std::int64_t longest_ns_ = kPatienceNs;
    std::atomic<std::int64_t> patience_ns_{0}; // it adapts
    std::atomic<std::int64_t> next_sweep_ns_{0};
    bool tells_threads_ = false;                // which kernel threads use its cores
    std::atomic<std::int64_t> next_look_ns_{0}; // for sleepers; who moves it on looks
    std::atomic<int> look_from_{0};             // from which core on
};

} // namespace sennit::node
