// SPDX-License-Identifier: Apache-2.0
// MPICH alone: what a flush of a window does for a task. MPICH 4.0 over UCX notes of each target
// whether there is something to flush, and not for each operation. Flushes of other tasks'
// operations take the notes away, and then MPI_Win_flush_local and flushes of all targets return
// too early (docs/mpi-faults.md). A whole flush of one target does not.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// In place of `call`, a flush of all targets: over UCX each target is flushed. Those that no
// operation went to cost a look at the note, whether they are locked or not.
int flush_targets(MPI_Win win, int (*call)(MPI_Win));

} // namespace sennit::mpi
