// SPDX-License-Identifier: Apache-2.0
// The tickets that are filed and not over. One thread at a time tests them: the one that holds the
// token.
//
// State      what                                  touched by
//   inbox_     new tickets, a stack                any thread pushes, the token's holder takes all
//   pending_   how many are not over               any thread
//   requests_, waiting_, special_, late_, orders   the token's holder
//   to_fulfil_ are over and fulfil an event        the token's holder, who takes all
//   to_call_   are over and call back              any thread, under its lock
//
// Capacity: any number. The arrays grow and keep their memory, because the number of suspended
// tasks has peaks. The cost of a turn does not grow with the number (rotation.h).
//
// Locks: threads only try to take the token, except in hold_token(). A ticket's callback is called
// without the token, because it may block, and other threads must not wait for it.
#pragma once

#include "base/assert.h"
#include "base/spin.h"
#include "mpi/call/array.h"
#include "mpi/call/list.h"
#include "mpi/call/runtime.h"
#include "mpi/engine/rotation.h"
#include "mpi/engine/ticket.h"

#include <atomic>

namespace sennit::mpi {

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
        Ticket *top = inbox_.load(std::memory_order_relaxed);
        do
            ticket.next = top;
        // Pairs with the acquire of take_new.
        while (!inbox_.compare_exchange_weak(top, &ticket, std::memory_order_release,
                                             std::memory_order_relaxed));
    }

    // The ticket's send is no longer under way.
    void leave_order(Ticket &ticket) {
        if (ticket.place)
            flow_.leave(ticket.place);
        ticket.place = 0;
    }

    // Take the next ticket that is over and calls back, the oldest first. Null: there is none. Not
    // for the token's holder.
    Ticket *take_to_call() { return any_to_call() ? pop_to_call() : nullptr; }
    bool any_to_call() const { return to_call_count() != 0; }

    // ---- the token ------------------------------------------------------------------------------

    // False: another thread has the token.
    bool take_token() { return !token_.exchange(true, std::memory_order_acquire); }
    void release_token() {
        SENNIT_ASSERT(token_.load(std::memory_order_relaxed));
        token_.store(false, std::memory_order_release);
    }
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
        for (int i = 0; i < special_.size(); ++i)
            visit(*special_[i]);
        for (int i = 0; i < waiting_.size(); ++i)
            visit(*waiting_[i]);
    }
    // Finish the tickets that SENNIT_CHAOS has kept, and whose time has come.
    int finish_late();
    // Take all tickets that are over and only fulfil an event, as a list. The caller fulfils the
    // events when it has released the token.
    Ticket *take_to_fulfil() { return to_fulfil_.pop_all(); }

  private:
    struct Late {
        Ticket *ticket;
        std::uint64_t due;
    };

    void take_new();
    void shuffle();
    void complete(int at, const MPI_Status &status, int error, bool unraised);
    int test_one(int at);
    int find_failure(Rotation::Slice slice);
    int test_requests(Rotation::Slice slice);
    int test_special(Rotation::Slice slice);
    void finish_now(Ticket &ticket);
    Ticket *pop_to_call();
    int to_call_count() const { return to_call_count_.load(std::memory_order_relaxed); }

    Flow &flow_; // of long sends
    std::atomic<Ticket *> inbox_{nullptr};
    std::atomic<std::int64_t> pending_{0};
    std::atomic<bool> token_{false};

    Array<MPI_Request> requests_; // of waiting_, in its order
    Array<Ticket *> waiting_;
    Rotation order_;
    Array<Ticket *> special_; // tickets with a test of their own
    Rotation special_order_;
    Array<Late> late_;
    List<Ticket> to_fulfil_;

    std::atomic<int> to_call_count_{0}; // written under the lock
    SpinLock to_call_lock_;
    List<Ticket> to_call_;
};

} // namespace sennit::mpi
