// SPDX-License-Identifier: Apache-2.0
// MPI_Testall for a wait in a task, which must do what MPI_Waitall does. MPICH 4.0's does not: of
// several partitioned requests or persistent collectives it says MPI_ERR_IN_STATUS when nothing has
// failed, and completes some without the others; several collective operations on a file it mixes
// up.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);

} // namespace sennit::mpi
