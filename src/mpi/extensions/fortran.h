// SPDX-License-Identifier: Apache-2.0
// What Fortran hands over, as C has it. Handles are integers there, and two addresses have a
// meaning.
#pragma once

#include "mpi/call/bare.h"

namespace sennit::mpi {

// A buffer: MPI_BOTTOM and MPI_IN_PLACE are variables in Fortran.
void *buffer_from_fortran(void *buffer);

// A status is laid out as in C.
static_assert(sizeof(MPI_Status) % sizeof(MPI_Fint) == 0);
MPI_Status *status_from_fortran(MPI_Fint *status);

// One datatype for each process of `comm`. MPI uses the array until the operation is complete, so
// it stays; equal ones are the same.
const MPI_Datatype *datatypes_from_fortran(const MPI_Fint *types, MPI_Comm comm);

// TAMPI 1 to 3: bind what has been started, where operations are bound to tasks. Elsewhere the
// request is the program's.
int bind_for_fortran(MPI_Request &request, MPI_Status *status);

// start(request), then that; returns the error code.
template <class Start>
int start_from_fortran(MPI_Fint *fortran_request, MPI_Status *status, Start start) {
    MPI_Request request = MPI_REQUEST_NULL;
    int error = start(request);
    if (error == MPI_SUCCESS)
        error = bind_for_fortran(request, status);
    *fortran_request = MPI_Request_c2f(request);
    return error;
}

} // namespace sennit::mpi
