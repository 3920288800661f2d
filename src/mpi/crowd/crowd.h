// SPDX-License-Identifier: Apache-2.0
// All that this room knows of the ranks around this one. A part uses only the parts above it.
//
// State: begin_crowd() (join.h) writes it before anybody looks at kCrowd. Each part says which
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

} // namespace sennit::mpi
