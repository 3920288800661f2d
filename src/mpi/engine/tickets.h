// SPDX-License-Identifier: Apache-2.0
// The tickets that are filed and not over. One thread at a time tests them: the one that holds the
// token.
//
// State      what                                  touched by
//   inbox_     new tickets, a stack                any thread pushes, the token's holder takes all
//   pending_   how many are not over               any thread
//   requests_, waiting_, special_, late_, orders   the token's holder
//   to_fulfil_ are over and fulfil an event        the token's holder, who takes all
//   to_call_   are over and call back              any thread, with its lock
//
// Capacity: any number. The arrays grow and keep their memory, because the number of suspended
// tasks has peaks. The cost of a look does not grow with the number (rotation.h).
//
// Locks: threads only try to take the token, except in hold_token(). A ticket's callback is called
// without the token, because it may block, and other threads must not wait for it.
#pragma once

#include "base/assert.h"
#include "base/inbox.h"
#include "base/list.h"
#include "base/spin.h"
#include "mpi/call/operation.h"
#include "mpi/call/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// How many long sends MPI gets at once, if the policy orders them.
//
// It gets few, so that an urgent send that comes later has few before it on the card. But it must
// not get so few that sends wait for each other: a receiver may want first what is sent last. Then
// the sends under way never leave.
//
// So when no send has left for a while, MPI gets more, four times as many. The first send that
// leaves then tells the reason:
// - It was one of those that were let go just now. So receivers do not want the sends in our order.
//   The larger number stays, until long after.
// - It was under way before. So the card is only slow, and patience was too short. The number goes
//   back to few, with more patience.
//
// A send is *wanted* if its receiver has told that it waits for it (urgency.h). A wanted send
// leaves as soon as the card is free. All sends under way may wait for receivers that do not want
// them yet, so a wanted send goes beside them. At most two wanted sends are under way, one on the
// card and one to follow, because wanted sends are to leave in the receivers' order. While there
// are any, patience is ten times as long: what a receiver told may have been about an earlier
// message, or the card is only slow.
//
// Thread-safety: any thread calls enter() and leave(). The thread that polls calls let_go().

class Flow {
  public:
    // By which rise of the limit a send was let go; 0: it was not.
    using Admission = std::uint32_t;

    // A send comes. At least `fewest` sends may be under way. Returns 0 if it has to wait.
    Admission enter(int fewest) {
        fewest_.store(fewest, std::memory_order_relaxed);
        const int others = under_way_.fetch_add(1, std::memory_order_relaxed);
        if (others == 0)
            begun_.store(true, std::memory_order_relaxed);
        if (others < limit())
            return generation_.load(std::memory_order_relaxed);
        under_way_.fetch_sub(1, std::memory_order_relaxed);
        return 0;
    }

    // A send comes, and has to wait in any case. Notes `fewest` for let_go().
    void queue_all(int fewest) { fewest_.store(fewest, std::memory_order_relaxed); }

    // A send that waits may go now, or (0) has to wait longer.
    Admission let_go(std::int64_t now, bool wanted = false) {
        notice_those_that_left(now);
        std::atomic<int> &beside = wanted ? wanted_ : under_way_;
        const int most =
            wanted ? std::max(kMostWanted, allowed_.load(std::memory_order_relaxed)) : limit();
        if (beside.load(std::memory_order_relaxed) >= most) {
            const bool any_wanted = wanted_.load(std::memory_order_relaxed) > 0;
            if (now - moved_at_ < (any_wanted ? 10 : 1) * patience_)
                return 0;
            allow_more();
        }
        moved_at_ = now;
        beside.fetch_add(1, std::memory_order_relaxed);
        return generation_.load(std::memory_order_relaxed) | (wanted ? kWanted : 0);
    }

    void leave(Admission admission) {
        [[maybe_unused]] const int before =
            (admission & kWanted ? wanted_ : under_way_).fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        left_.fetch_add(1, std::memory_order_relaxed);
        // The first one to leave since more were allowed tells the reason.
        if (in_doubt_.load(std::memory_order_relaxed) &&
            in_doubt_.exchange(false, std::memory_order_relaxed) &&
            (admission & ~kWanted) < generation_.load(std::memory_order_relaxed)) {
            allowed_.store(0, std::memory_order_relaxed);
            slow_.store(true, std::memory_order_relaxed);
        }
    }

    int limit() const {
        return std::max(fewest_.load(std::memory_order_relaxed),
                        allowed_.load(std::memory_order_relaxed));
    }

  private:
    static constexpr std::int64_t kPatienceNs = 5'000'000;
    static constexpr std::int64_t kMostPatienceNs = 1'000'000'000;
    static constexpr int kMostAllowed = 1 << 20;
    static constexpr int kMostWanted = 2;
    static constexpr Admission kWanted = Admission{1} << 31; // a bit of a wanted send

    void allow_more() {
        const int more = std::min(4 * limit(), kMostAllowed);
        allowed_.store(more, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_relaxed);
        in_doubt_.store(true, std::memory_order_relaxed);
        calm_ = 0;
    }

    void notice_those_that_left(std::int64_t now) {
        if (begun_.exchange(false, std::memory_order_relaxed))
            moved_at_ = now; // no matter when it last was: since then there was nothing to move
        const std::uint64_t left = left_.load(std::memory_order_relaxed);
        if (left == seen_)
            return;
        calm_ += left - seen_;
        seen_ = left;
        moved_at_ = now;
        if (slow_.exchange(false, std::memory_order_relaxed)) {
            patience_ = std::min(2 * patience_, kMostPatienceNs);
        } else if (calm_ > calm_enough_ && allowed_.load(std::memory_order_relaxed) > 0) {
            allowed_.store(limit() / 4, std::memory_order_relaxed);
            calm_ = 0;
            calm_enough_ *= 2; // it may have been right
        }
    }

    std::atomic<int> fewest_{0};
    std::atomic<int> allowed_{0};          // how many may go, if that is more than the fewest
    std::atomic<int> under_way_{0};        // without wanted sends
    std::atomic<int> wanted_{0};           // wanted sends under way
    std::atomic<bool> begun_{false};       // a send has begun when none was under way
    std::atomic<Admission> generation_{1}; // how often more were allowed
    std::atomic<bool> in_doubt_{false};    // it is not known yet whether that was right
    std::atomic<bool> slow_{false};        // it was wrong: the card is slow
    std::atomic<std::uint64_t> left_{0};
    // Used by the thread that polls:
    std::uint64_t seen_ = 0;
    std::uint64_t calm_ = 0; // sends that have left since more were allowed
    std::uint64_t calm_enough_ = 256;
    std::int64_t moved_at_ = 0;
    std::int64_t patience_ = kPatienceNs;
};

// A ticket: an operation that MPI has to finish.

// The states of a ticket. Checked builds check each step.
//     fresh     the thread that made it has it
//     queued    it is a long send that waits for its turn (send_queue.h)
//     filed     it is in the inbox, until the next thread that tests takes it out
//     tested    it is among those that are tested
//     late      it is over for MPI, but SENNIT_CHAOS keeps it
//     over      it is about to resume its task, or in the list of those that call back
//     called    its function has it, and frees it
enum class TicketState : std::uint8_t { fresh, queued, filed, tested, late, over, called };
constexpr unsigned after(TicketState state) {
    using enum TicketState;
    switch (state) {
    case fresh:
        return states(filed, queued);
    case queued:
        return states(filed, tested, late, over); // late, over: it could not be started
    case filed:
        return states(tested);
    case tested:
        return states(late, over);
    case late:
        return states(over);
    case over:
        return states(called);
    case called:
        return 0;
    }
    return 0;
}

// Either a suspended task waits for a ticket, and the ticket lives in the task's frame. Or a
// callback waits for it, and owns the ticket.
struct Ticket {
    // Returns true when the ticket is over. Then `error` is the code that the caller gets. If
    // `test` is null, `request` is tested together with those of other tickets.
    bool (*test)(Ticket &ticket) = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Request *handle = nullptr; // the user's variable that gets the request back, or null
    MPI_Status *status = MPI_STATUS_IGNORE;
    Operation operation = {};
    int error = MPI_SUCCESS;
    bool unraised = false; // no error handler knows of `error` yet
    // What follows when the ticket is over:
    sennit_task *task = nullptr;                // this task is resumed, or
    void (*finished)(Ticket &ticket) = nullptr; // this is called; it frees the ticket
    bool fulfils = false; // finished() only fulfils a task's event, or writes to a descriptor
    bool last = false;    // after that, the thread only returns to the runtime
    Ticket *next = nullptr;
    // For a long send under a policy that orders them: how to start it, and its key in the order.
    int (*start)(void *closure, MPI_Request *request) = nullptr;
    void *closure = nullptr;
    std::uint64_t key = 0;
    Flow::Admission admission = 0; // among the sends that are under way
    [[no_unique_address]] States<TicketState, after> state{TicketState::fresh};
};

// Decides which of the pending operations are tested next. The cost of a look must not grow with
// the number of operations, and none may starve.
//
// The operations that came last are usually over first: in a chain of messages each waits for the
// one before. So the youngest few are tested at every look. The others are tested in batches. A
// batch is tested if none of the youngest is over, and otherwise now and then. If nothing is
// found, a few batches are tested in one look. Their number is bounded, because they keep the
// youngest waiting.
//
// Items are in an array of the caller's. [0, old) are tested in batches; [0, position) of them had
// their turn in this round. [old, size) are the youngest.

class Rotation {
  public:
    static constexpr int kBatch = 64;      // at most so many in one MPI_Testsome
    static constexpr int kYoung = 16;      // with MPICH a test costs 140 instructions
    static constexpr int kLeftOut = 8;     // fewer looks than this in a row leave out the old ones
    static constexpr int kMostBatches = 4; // in a look: some microseconds
    struct Slice {
        int begin;
        int count;
    };

    // An item was added behind the others.
    void added() {
        ++size_;
        old_ = std::max(old_, size_ - kYoung);
    }

    // One look. test(slice) tests the items of a slice, and returns how many are over. Then
    // is_over(i) tells it for each. move(from, to) moves an item. drop() removes the last item,
    // which was moved or is over. Returns how many were over.
    template <class Test, class IsOver, class Move, class Drop>
    int look(Test test, IsOver is_over, Move move, Drop drop) {
        const auto look_at = [&](Slice slice) {
            const int over = slice.count > 0 ? test(slice) : 0;
            const int kept = over > 0 ? remove(slice, is_over, move, drop) : slice.count;
            return Slice{kept, over};
        };
        int done = look_at({old_, size_ - old_}).count;
        if (done > 0 && ++left_out_ < kLeftOut) {
            batches_ = 1;
            return done;
        }
        left_out_ = 0;
        int looked = 0;
        for (int left = batches_; left > 0 && looked < old_; --left) {
            if (position_ >= old_)
                position_ = 0;
            const auto [kept, over] = look_at({position_, std::min(kBatch, old_ - position_)});
            position_ += kept;
            looked += kBatch;
            done += over;
            // Stop: tasks can go on now.
            if (done > 0)
                break;
        }
        batches_ = done > 0 ? 1 : std::min(2 * batches_, kMostBatches);
        return done;
    }

    // Between two looks, with `size` items in the caller's array.
    bool is_sound(std::size_t size) const {
        return static_cast<std::size_t>(size_) == size && old_ >= 0 && old_ <= size_ &&
               size_ - old_ <= kYoung && position_ >= 0 && batches_ >= 1 &&
               batches_ <= kMostBatches;
    }

  private:
    // Remove the items of the slice that are over. Returns how many are left. These come first in
    // the slice, and items follow that were not tested yet.
    template <class IsOver, class Move, class Drop>
    int remove(Slice slice, IsOver is_over, Move move, Drop drop) {
        const int end = slice.begin + slice.count;
        int kept = slice.begin;
        for (int i = slice.begin; i < end; ++i)
            if (!is_over(i)) {
                if (i != kept)
                    move(i, kept);
                ++kept;
            }
        // From the back: so an item that moves into a hole need not be removed itself.
        for (int hole = end - 1; hole >= kept; --hole) {
            int at = hole;
            if (at < old_) { // not a young one, which would lose its place
                if (--old_ != at)
                    move(old_, at);
                at = old_;
            }
            if (--size_ != at)
                move(size_, at);
            drop();
        }
        return kept - slice.begin;
    }

    int size_ = 0;
    int old_ = 0;
    int position_ = 0;
    int batches_ = 1; // at the next look that finds nothing
    int left_out_ = 0;
};

class Tickets {
  public:
    constexpr explicit Tickets(Flow &flow) : flow_(flow) {}
    Tickets(const Tickets &) = delete;
    Tickets &operator=(const Tickets &) = delete;

    // ---- any thread ---------------------------------------------------------------------------

    // One more ticket is pending: called before it is filed. One less: called when it is over.
    void begin_pending() {
        pending_.fetch_add(1, std::memory_order_relaxed);
        count_pending(1);
    }
    void end_pending() {
        [[maybe_unused]] const std::int64_t before =
            pending_.fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        count_pending(-1);
    }
    std::int64_t pending() const { return pending_.load(std::memory_order_relaxed); }
    // The same, for a thread that then uses what tickets had that are over.
    std::int64_t pending_acquire() const { return pending_.load(std::memory_order_acquire); }

    // From now on the ticket is tested until it is over.
    void file(Ticket &ticket) {
        SENNIT_ASSERT(ticket.state.step(TicketState::filed));
        inbox_.push(ticket);
    }

    // The ticket's send is no longer under way.
    void leave_order(Ticket &ticket) {
        if (ticket.admission)
            flow_.leave(ticket.admission);
        ticket.admission = 0;
    }

    // Take the next ticket that is over and calls back, the oldest first. Null: there is none. Not
    // for the token's holder.
    // `which`: any of them, or only those that call no function of the program's.
    enum class Which { any, ours };
    Ticket *take_to_call(Which which) { return any_to_call() ? pop_to_call(which) : nullptr; }
    bool any_to_call() const { return to_call_count() != 0; }

    // ---- the token ------------------------------------------------------------------------------

    // False: another thread has the token.
    bool take_token() { return token_.take(); }
    void release_token() { token_.release(); }
    // Wait for the token a while. False: another thread keeps it.
    bool hold_token();

    // ---- the token's holder ---------------------------------------------------------------------

    // Take new tickets, and test those whose turn it is. Returns how many are over.
    int test();
    // From now on the ticket's request is tested.
    void add(Ticket &ticket);
    // The ticket is over; `bytes` were received.
    void finish(Ticket &ticket, std::uint64_t bytes = 0);
    template <class Visit>
    void visit(Visit visit) {
        take_new();
        for (Ticket *ticket : special_)
            visit(*ticket);
        for (Ticket *ticket : waiting_)
            visit(*ticket);
    }
    // Finish the tickets that SENNIT_CHAOS has kept, and whose time has come.
    int finish_late();
    // Take all tickets that are over and only fulfil an event, as a list. The caller fulfils the
    // events when it has released the token.
    Ticket *take_to_fulfil() { return to_fulfil_.pop_all(); }
    // Is every ticket in the state of the list that has it, with its own request beside it? Between
    // two looks.
    bool is_sound();

  private:
    struct Late {
        Ticket *ticket;
        std::uint64_t due;
    };

    void take_new();
    bool tested_are_sound() const;
    void shuffle();
    void complete(int at, const MPI_Status &status, int error, bool unraised);
    int test_one(int at);
    int find_failure(Rotation::Slice slice);
    int test_requests(Rotation::Slice slice);
    int test_special(Rotation::Slice slice);
    void finish_now(Ticket &ticket);
    Ticket *pop_to_call(Which which);
    int to_call_count() const { return to_call_count_.load(std::memory_order_relaxed); }

    Flow &flow_; // of long sends
    Inbox<Ticket> inbox_;
    std::atomic<std::int64_t> pending_{0};
    Token token_;

    Pending<MPI_Request> requests_; // of waiting_, in its order
    Pending<Ticket *> waiting_;
    Rotation order_;
    Pending<Ticket *> special_; // tickets with a test of their own
    Rotation special_order_;
    Pending<Late> late_;
    List<Ticket> to_fulfil_;

    std::atomic<int> to_call_count_{0}; // written with the lock
    SpinLock to_call_lock_;
    List<Ticket> to_call_ SENNIT_GUARDED_BY(to_call_lock_);
    [[no_unique_address]] WholeChecks checks_; // the token's holder's
};

} // namespace sennit::mpi
