// SPDX-License-Identifier: Apache-2.0
// MPICH alone: what a flush of a window does for a task. MPICH 4.0 over UCX notes of each target
// whether there is something to flush, and not for each operation. Flushes of other tasks'
// operations take the notes away, and then MPI_Win_flush_local and flushes of all targets return
// too early (docs/mpi-faults.md). A whole flush of one target does not.
#pragma once

#include "mpi/call/bare.h"

#include <mpi.h>

namespace sennit::mpi {

// In place of a flush of all targets. Targets that no operation went to cost a look at the note.
inline int flush_each_target(MPI_Win win) {
    MPI_Group group = MPI_GROUP_NULL;
    int targets = 0;
    int error = SENNIT_BARE(Win_get_group)(win, &group);
    if (error != MPI_SUCCESS)
        return error;
    SENNIT_BARE(Group_size)(group, &targets);
    SENNIT_BARE(Group_free)(&group);
    for (int target = 0; target < targets && error == MPI_SUCCESS; ++target)
        error = SENNIT_BARE(Win_flush)(target, win);
    return error;
}

} // namespace sennit::mpi
