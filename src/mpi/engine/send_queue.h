// SPDX-License-Identifier: Apache-2.0
// Long sends that wait for their turn. The network card of a machine is a queue, too. So under a
// policy that knows what is urgent, MPI gets only a few long sends at once (flow.h). The others
// wait here, in the order of their keys. Of the sends with the same communicator, peer and tag, the
// first one goes first. It also goes before a send of this kind that need not wait.
//
// State: queued_. The mutex is held while a send is started, too: two threads must not start sends
// of one channel in the wrong order.
//
// Capacity: any number. To find the next send, all are looked at.
#pragma once

#include "base/clock.h"
#include "base/guard.h"
#include "mpi/call/operation.h"
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

    // Does a send have to wait for its turn? If so, others are under way. If not, it may be started
    // at once, and its place is in the ticket. Any thread.
    bool must_queue(const Operation &operation, Ticket &ticket);
    // From now on the send waits. Any thread.
    void push(Ticket &ticket);
    bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
    // A send is about to be started. It must not overtake waiting sends with the same communicator,
    // peer and tag, so these go now. Without a tag or an object: those with any. Any thread.
    void let_pass(int peer, int tag, Object object);

    // Let sends go, in their order. The thread that tests calls it. Returns how many sends could
    // not be started, and so are over.
    int start(std::int64_t (*clock)() = monotonic_ns) {
        return urgency_.on() || !empty() ? start_some(clock) : 0;
    }
    template <class Visit>
    void visit(Visit visit) {
        const Guard guard(mutex_);
        for (Ticket *ticket : queued_)
            visit(*ticket);
    }

  private:
    int size() const SENNIT_REQUIRES(mutex_) { return static_cast<int>(queued_.size()); }
    int start_some(std::int64_t (*clock)());
    Ticket &take(int at) SENNIT_REQUIRES(mutex_);
    int first() const SENNIT_REQUIRES(mutex_);
    void heard(int peer, int tag, int priority);

    Flow &flow_;
    Tickets &tickets_;
    Urgency &urgency_;
    Mutex mutex_;
    Pending<Ticket *> queued_ SENNIT_GUARDED_BY(mutex_); // in the order of their calls
    std::atomic<int> count_{0};
};

} // namespace sennit::mpi
