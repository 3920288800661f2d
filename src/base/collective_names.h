// SPDX-License-Identifier: Apache-2.0
// Between src/mpi, which counts collective calls, and `sennit run`, which compares those of the
// ranks.
#pragma once

// Ends the name of a call that was made in its non-blocking form, because a task made it. Such a
// one meets MPI_Iallreduce, not the MPI_Allreduce of a rank that calls it outside of tasks.
#define SENNIT_IN_A_TASK " in a task"
