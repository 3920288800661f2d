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
    return attempt.error == MPI_SUCCESS ? g_engine.wait_for(ticket, true) : settle(ticket);
}

} // namespace sennit::mpi
