// SPDX-License-Identifier: Apache-2.0
// MPI_Testall as tasks need it for partitioned requests: MPICH 4.0's reports MPI_ERR_IN_STATUS for
// them when nothing has failed, and takes apart what it should complete together. Its MPI_Waitall
// does neither, so a wait in a task must not.
#pragma once

#include "mpi/engine.h"

namespace sennit::mpi {

int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);

} // namespace sennit::mpi
