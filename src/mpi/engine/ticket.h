// SPDX-License-Identifier: Apache-2.0
// A ticket: an operation that MPI has to finish.
#pragma once

#include "base/states.h"
#include "mpi/call/operation.h"
#include "mpi/engine/flow.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

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
    bool fulfils = false;                       // finished() only fulfils a task's event
    bool last = false; // after that, the thread only returns to the runtime
    Ticket *next = nullptr;
    // For a long send under a policy that orders them: how to start it, and its key in the order.
    int (*start)(void *closure, MPI_Request *request) = nullptr;
    void *closure = nullptr;
    std::uint64_t key = 0;
    Flow::Place place = 0; // among the sends that are under way
    [[no_unique_address]] States<TicketState, after> state{TicketState::fresh};
};

} // namespace sennit::mpi
