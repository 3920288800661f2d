// SPDX-License-Identifier: Apache-2.0
// Something that MPI has to finish.
#pragma once

#include "base/states.h"
#include "mpi/call/operation.h"
#include "mpi/engine/flow.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Checked builds follow them. A ticket is
//     fresh     with who made it
//     queued    a long send that waits for its turn (send_queue.h)
//     filed     in the inbox, until the next thread that tests takes it out
//     tested    among those that are tested
//     late      over for MPI, but SENNIT_CHAOS keeps it
//     over      about to resume its task, or in the list of those that call back
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

// Who waits is either a suspended task, in whose frame the ticket lives, or a callback, which then
// owns the ticket.
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
    bool fulfils = false;                       // which does no more than fulfil a task's event
    bool last = false; // then the thread does no more than return to the runtime
    Ticket *next = nullptr;
    // A long send under a policy that orders them: how to start it, and who goes first.
    int (*start)(void *closure, MPI_Request *request) = nullptr;
    void *closure = nullptr;
    std::uint64_t key = 0;
    Flow::Place place = 0; // among those that are under way
    [[no_unique_address]] States<TicketState, after> state{TicketState::fresh};
};

} // namespace sennit::mpi
