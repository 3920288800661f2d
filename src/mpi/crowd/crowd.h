// SPDX-License-Identifier: Apache-2.0
// All that this room knows of the ranks around this one. A part uses only the parts above it.
//
// State: begin_crowd() writes it before anybody looks at kCrowd. Each part says which
// threads touch it later.
#pragma once

#include "mpi/crowd/assembled.h"
#include "mpi/crowd/children.h"
#include "mpi/crowd/hop.h"
#include "mpi/crowd/length.h"
#include "mpi/crowd/neighbours.h"
#include "mpi/crowd/yields.h"
#include "node/board.h"

#include <mpi.h>

namespace sennit::mpi {

// One for each MPI library in the process.
struct Crowd {
    Hops hops;
    Lengths lengths;
    Neighbours neighbours{hops, lengths};
    Assembled assembled{neighbours}; // of MPI_COMM_WORLD
    Children children{neighbours};
    Yields yields;
    node::Board board;
    node::BoardSlot *own = nullptr; // on the board; null: there is none
    // For our own collectives. So they never meet the program's on MPI_COMM_WORLD, right or wrong.
    MPI_Comm comm{};

    // How small collectives on the communicator are made. Null: by MPI.
    Assembled *assembled_of(MPI_Comm of) {
        if (of != MPI_COMM_WORLD)
            return children.of(of);
        return assembled.is_on() ? &assembled : nullptr;
    }
};

// It is hidden, so that code reaches it without a table of addresses.
#pragma GCC visibility push(hidden)
extern constinit Crowd g_crowd;
#pragma GCC visibility pop

// How the ranks of a job begin to share cores, and how they end.
//
// MPI libraries wait by spinning. If the ranks and threads of a node outnumber its cores, a rank
// that spins keeps the core from the rank that it waits for. Then no call blocks in MPI. Its
// non-blocking form is started and tested, and between two tests the thread leaves its core to
// others (vigil.h). The real MPI carries every message.
//
// MPI does not match a blocking collective with a non-blocking one. So the job decides whether this
// is done: once, in MPI_Init, and alike on all ranks of all nodes.

// Called when MPI is initialized, on all ranks of MPI_COMM_WORLD: it is collective
// (SENNIT_DOORBELLS).
void begin_crowd();
// Called before MPI_Finalize, on all ranks: wait until all are there.
void end_crowd();
// Called after MPI_Finalize: leave the board.
void leave_board();

// Would MPI accept a datatype of the program's? Ranks that must decide alike ask, before they make
// a call without MPI: only some of them would give MPI the type then, and learn what is wrong. Not
// one that is not committed, say. The program is not told.
bool is_accepted(MPI_Datatype type);

} // namespace sennit::mpi
