// SPDX-License-Identifier: Apache-2.0
// MPI libraries wait by spinning. Where the ranks and threads of a node outnumber its cores, a rank
// that spins keeps the core from the one it waits for. There no call blocks in MPI: its
// non-blocking form is started and tested, and between tests the thread leaves its core to others
// (vigil.h). The real MPI carries every message.
//
// MPI does not match a blocking collective with a non-blocking one. So whether it is done is the
// job's decision, taken once, in MPI_Init, and the same on all ranks of all nodes.
#pragma once

namespace sennit::mpi {

// MPI is initialized; a collective call of all ranks of MPI_COMM_WORLD (SENNIT_DOORBELLS).
void begin_crowd();
// Before MPI_Finalize, on all ranks: wait until they are all there.
void end_crowd();
// After it: leave the board.
void leave_board();

} // namespace sennit::mpi
