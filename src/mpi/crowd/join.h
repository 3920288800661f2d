// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job begin to share cores, and how they end.
//
// MPI libraries wait by spinning. If the ranks and threads of a node outnumber its cores, a rank
// that spins keeps the core from the rank that it waits for. Then no call blocks in MPI. Its
// non-blocking form is started and tested, and between two tests the thread leaves its core to
// others (vigil.h). The real MPI carries every message.
//
// MPI does not match a blocking collective with a non-blocking one. So the job decides whether this
// is done: once, in MPI_Init, and alike on all ranks of all nodes.
#pragma once

namespace sennit::mpi {

// Called when MPI is initialized, on all ranks of MPI_COMM_WORLD: it is collective
// (SENNIT_DOORBELLS).
void begin_crowd();
// Called before MPI_Finalize, on all ranks: wait until all are there.
void end_crowd();
// Called after MPI_Finalize: leave the board.
void leave_board();

} // namespace sennit::mpi
