// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/attempt.h"

#include "base/compiler.h"
#include "mpi/crowd/quick_tests.h"

namespace sennit::mpi {

SENNIT_HOT int test_in_crowd(Notice notice, MPI_Request *request, int *flag, MPI_Status *status) {
    const QuickTests quick;
    const int error = quick_test(request, flag, status);
    if (notice == Notice::receive)
        has_called_mpi();
    return error;
}

SENNIT_HOT int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status) {
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
