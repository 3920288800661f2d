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

} // namespace sennit::mpi
