// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/send_queue.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"
#include "mpi/call/thread_state.h"

namespace sennit::mpi {
namespace {

bool same_channel(const Operation &one, const Operation &other) {
    return one.peer == other.peer && one.tag == other.tag && one.object == other.object;
}

} // namespace

Ticket &SendQueue::take(int at) {
    Ticket &taken = *queued_[at];
    SENNIT_ASSERT(taken.state.is(TicketState::queued) && !empty());
    for (; at + 1 < size(); ++at)
        queued_[at] = queued_[at + 1];
    queued_.pop();
    count_.fetch_sub(1, std::memory_order_relaxed);
    g_calls.obstacles.fetch_sub(1, std::memory_order_relaxed);
    return taken;
}

// The one with the least key. If there are several, the oldest.
int SendQueue::first() const {
    int first = 0;
    for (int i = 1; i < size(); ++i)
        if (queued_[i]->key < queued_[first]->key)
            first = i;
    return first;
}

bool SendQueue::must_queue(const Operation &operation, Ticket &ticket) {
    if (operation.count < Urgency::kLongMessage || InCallback::polls() ||
        operation.path == Path::polls)
        return false;
    const int at_once = send_order(ticket.key);
    if (at_once == 0)
        return false;
    if (urgency_.on()) { // whether it is wanted is known there
        flow_.queue_all(at_once);
        return true;
    }
    ticket.admission = flow_.enter(at_once);
    return ticket.admission == 0;
}

void SendQueue::push(Ticket &ticket) {
    SENNIT_ASSERT(ticket.state.step(TicketState::queued));
    const Guard guard(mutex_);
    if (urgency_.on())
        ticket.key = Urgency::key_of(ticket.key, urgency_.told(ticket.operation));
    add_pending(queued_, &ticket);
    count_.fetch_add(1, std::memory_order_relaxed);
    g_calls.obstacles.fetch_add(1, std::memory_order_relaxed);
}

void SendQueue::let_pass(int peer, int tag, Object object) {
    const Guard guard(mutex_);
    for (int i = 0; i < size();) {
        const Operation &queued = queued_[i]->operation;
        const bool before = queued.peer == peer && (tag < 0 || queued.tag == tag) &&
                            (object.kind == Object::Kind::none || queued.object == object);
        if (!before) {
            ++i;
            continue;
        }
        Ticket &ticket = take(i);
        ticket.error = outside_task([&] { return ticket.start(ticket.closure, &ticket.request); });
        if (ticket.error != MPI_SUCCESS)
            ticket.test = [](Ticket &) { return true; };
        tickets_.file(ticket);
    }
}

// A receiver has told how urgent a message is. The message waits here, or is still to be sent.
void SendQueue::heard(int peer, int tag, int priority) {
    const Guard guard(mutex_);
    for (int i = 0; i < size(); ++i) {
        const Operation &operation = queued_[i]->operation;
        if (operation.peer == peer && operation.tag == tag &&
            operation.object == communicator(MPI_COMM_WORLD)) {
            queued_[i]->key = Urgency::key_of(queued_[i]->key, priority);
            return;
        }
    }
    urgency_.remember(peer, tag, priority);
}

int SendQueue::start_some(std::int64_t (*clock)()) {
    if (urgency_.on())
        urgency_.listen([this](int peer, int tag, int priority) { heard(peer, tag, priority); });
    int failed = 0;
    while (!empty()) {
        const Guard guard(mutex_);
        if (size() == 0)
            break;
        const int urgent = first();
        const bool wanted = urgency_.on() && Urgency::is_wanted(queued_[urgent]->key);
        const Flow::Admission admission = flow_.let_go(clock(), wanted);
        if (!admission)
            break;
        int oldest = 0;
        while (!same_channel(queued_[oldest]->operation, queued_[urgent]->operation))
            ++oldest;
        Ticket &ticket = take(oldest);
        ticket.admission = admission;
        ticket.error = ticket.start(ticket.closure, &ticket.request);
        if (ticket.error == MPI_SUCCESS) {
            tickets_.add(ticket);
        } else {
            ticket.unraised = QuietTests::kept_back();
            tickets_.finish(ticket);
            ++failed;
        }
    }
    return failed;
}

} // namespace sennit::mpi
