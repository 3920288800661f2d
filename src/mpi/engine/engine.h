// SPDX-License-Identifier: Apache-2.0
// The engine behind every wrapper. It starts the non-blocking twin of a call and tests it once. If
// that is not over, it files a ticket and suspends the task. A polling service tests the tickets
// (task-aware MPI paper, section 6).
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/object.h"
#include "mpi/call/runtime.h"
#include "mpi/engine/flow.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// A send is about to be started, which those that wait for their turn (must_queue) with the same
// communicator, peer and tag must not be overtaken by. Without a tag or object: with any.
void begin_send(int peer, int tag = -1, Object object = {});

// What a task is doing, for the runtime's policies, the timeline and reports.
struct Operation {
    const char *name = "";
    Notice notice = Notice::none;
    int peer = -1;
    int tag = -1;
    Object object = {};      // whose error handler is called
    Object turn = {};        // what it must keep its order on
    std::int64_t count = -1; // elements
    int requests = 0;        // of the program's own, in `handles`
    const void *handles = nullptr;
    const Operation *receives = nullptr; // beside what it sends, and started before
};

// Something that MPI has to finish. Either a suspended task waits for it, and the ticket lives in
// the task's frame; or a callback does, and owns the ticket.
struct Ticket {
    // True when it is over; `error` holds the code that the caller gets. Null: `request` is tested
    // together with those of other tickets.
    bool (*test)(Ticket &ticket) = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Request *handle = nullptr; // the user's variable to write the request back to, or null
    MPI_Status *status = MPI_STATUS_IGNORE;
    Operation operation = {};
    int error = MPI_SUCCESS;
    bool unraised = false; // no error handler knows of `error` yet
    // When it is over:
    sennit_task *task = nullptr;                // to resume, or
    void (*finished)(Ticket &ticket) = nullptr; // to call; it frees the ticket
    Ticket *next = nullptr;
    // A long send under a policy that orders them: how to start it, and who goes first.
    int (*start)(void *closure, MPI_Request *request) = nullptr;
    void *closure = nullptr;
    std::uint64_t key = 0;
    Flow::Place place = 0; // among those that are under way
};

// File a ticket; it will be tested until it is over. Counted before, by begin_pending.
void begin_pending();
void end_pending();
void file(Ticket &ticket);

// Suspend the calling task until `ticket` is over, unless it is already; returns its error. A
// thread that is in a callback and cannot be suspended polls.
int wait_for(const Operation &operation, Ticket &ticket);

// Test the ticket here and now.
bool test_once(Ticket &ticket);

// Call the error handler of the ticket's object unless one was called; returns its error.
int settle(Ticket &ticket);

// start(&request), after the collectives on the same object that are waiting for their turn.
int start_in_turn(const Operation &operation, int (*start)(void *closure, MPI_Request *request),
                  void *closure, MPI_Request *request);

template <class Start>
int start_operation(const Operation &operation, Start &start, MPI_Request *request) {
    if (operation.notice == Notice::send)
        begin_send(operation.peer, operation.tag, operation.object);
    else
        notify(operation.notice, operation.peer);
    if (operation.turn.kind != Object::Kind::none)
        return start_in_turn(
            operation,
            [](void *closure, MPI_Request *r) { return (*static_cast<Start *>(closure))(r); },
            &start, request);
    return outside_task([&] { return start(request); });
}

// Where the policy orders messages: does a long send have to wait for its turn? Then others are
// under way, and the ticket has its place. If not, it may be started at once.
bool must_queue(const Operation &operation, Ticket &ticket);
void leave_order(Ticket &ticket); // it is over
// Suspend the calling task until the ticket's send had its turn and is over.
int wait_in_queue(const Operation &operation, Ticket &ticket);

// start(&request), then wait_for it.
template <class Start>
int start_and_wait(const Operation &operation, MPI_Status *status, Start start) {
    Ticket ticket;
    ticket.status = status;
    if (operation.notice == Notice::send && must_queue(operation, ticket)) {
        notify(operation.notice, operation.peer);
        ticket.closure = &start;
        ticket.start = [](void *closure, MPI_Request *r) {
            return (*static_cast<Start *>(closure))(r);
        };
        return wait_in_queue(operation, ticket);
    }
    const int error = start_operation(operation, start, &ticket.request);
    if (error == MPI_SUCCESS)
        return wait_for(operation, ticket);
    leave_order(ticket);
    return error;
}

// test(&flag) until flag is set or an error comes, with the task suspended.
template <class Test>
int poll_and_wait(const Operation &operation, Test test) {
    struct PollTicket : Ticket {
        Test *call;
    } ticket;
    ticket.call = &test;
    ticket.test = [](Ticket &base) {
        auto &self = static_cast<PollTicket &>(base);
        int flag = 0;
        self.error = (*self.call)(&flag);
        return flag != 0 || self.error != MPI_SUCCESS;
    };
    notify(operation.notice, operation.peer);
    return wait_for(operation, ticket);
}

// Test the pending tickets, which one thread does at a time, and call continuations; returns how
// many are over. Is the thread the program's?
int progress(bool application = true);
// Tickets that are not over.
std::int64_t pending();
// Look at those, unless another thread goes on testing them.
void visit_pending(void (*visit)(void *arg, const Ticket &ticket), void *arg);
// Keep others from testing; false when another thread goes on doing so.
bool hold_tests();
void release_tests();

} // namespace sennit::mpi
