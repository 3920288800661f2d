// SPDX-License-Identifier: Apache-2.0
// Long sends that wait for their turn. The card of a machine is a queue, too: under a policy that
// knows what is urgent, MPI gets a few long sends at once (flow.h), and the others wait here, in
// the order of their keys. Of those with the same communicator, peer and tag the first goes first,
// and so does it before a send that need not wait.
//
// State: queued_, under mutex_, which is also held while one of them is started: two threads must
// not start sends of one channel in the other order.
//
// Capacity: any number. To find the next one all are looked at.
#pragma once

#include "base/clock.h"
#include "mpi/call/array.h"
#include "mpi/call/guard.h"
#include "mpi/engine/flow.h"
#include "mpi/engine/ticket.h"
#include "mpi/engine/tickets.h"
#include "mpi/engine/urgency.h"

#include <atomic>

namespace sennit::mpi {

class SendQueue {
  public:
    constexpr SendQueue(Flow &flow, Tickets &tickets, Urgency &urgency)
        : flow_(flow), tickets_(tickets), urgency_(urgency) {}
    SendQueue(const SendQueue &) = delete;
    SendQueue &operator=(const SendQueue &) = delete;

    // Does a send have to wait for its turn? Then others are under way. If not, it may be started
    // at once, and the ticket has its place. Any thread.
    bool must_queue(const Operation &operation, Ticket &ticket);
    // It waits from now on. Any thread.
    void push(Ticket &ticket);
    bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
    // A send is about to be started, which those with the same communicator, peer and tag must not
    // be overtaken by: they go now. Without a tag or object: with any. Any thread.
    void let_pass(int peer, int tag, Object object);

    // By who tests. Let sends go, the first in order first. Returns how many could not be started
    // and are over.
    int start(std::int64_t (*clock)() = monotonic_ns) {
        return urgency_.on() || !empty() ? start_some(clock) : 0;
    }
    template <class Visit>
    void visit(Visit visit) {
        const Guard guard(mutex_);
        for (int i = 0; i < queued_.size(); ++i)
            visit(*queued_[i]);
    }

  private:
    int start_some(std::int64_t (*clock)());
    Ticket &take(int at);
    int first() const;
    void heard(int peer, int tag, int priority);

    Flow &flow_;
    Tickets &tickets_;
    Urgency &urgency_;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Array<Ticket *> queued_; // in the order of their calls
    std::atomic<int> count_{0};
};

} // namespace sennit::mpi
