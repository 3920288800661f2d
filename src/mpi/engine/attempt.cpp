// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/attempt.h"

namespace sennit::mpi {

int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status) {
    Ticket ticket;
    ticket.operation = operation;
    ticket.request = attempt.request;
    ticket.status = status;
    ticket.error = attempt.error;
    ticket.unraised = attempt.unraised;
    if (attempt.error != MPI_SUCCESS)
        return settle(ticket);
    note_length(ticket.operation);
    return g_engine.wait_for(ticket, true);
}

} // namespace sennit::mpi
