// SPDX-License-Identifier: Apache-2.0
// The progress thread of MPI detach: MPIX_DETACH=progress (paper, section 6.1). It tests while
// there are pending operations and sleeps otherwise. It calls MPI beside the program's threads, so
// it needs MPI_THREAD_MULTIPLE.
#pragma once

namespace sennit::mpi {

// Did the user ask for the thread? Then MPI_Init asks for MPI_THREAD_MULTIPLE.
bool progress_thread_wanted();

// After MPI_Init with the level that MPI gave, and before MPI_Finalize.
void start_progress_thread(int level);
void stop_progress_thread();

// There is something to test.
void wake_progress_thread();

} // namespace sennit::mpi
