// SPDX-License-Identifier: Apache-2.0
// What the room knows of the ranks around this one, its parts in the order in which they stand on
// each other.
//
// State: written by begin_crowd() (join.h) before kCrowd is attended to; each part says who touches
// it later.
#pragma once

#include "mpi/crowd/assembled.h"
#include "mpi/crowd/hop.h"
#include "mpi/crowd/neighbours.h"
#include "mpi/crowd/yields.h"
#include "node/board.h"

#include <mpi.h>

namespace sennit::mpi {

// One for each MPI library in the process.
struct Crowd {
    Hops hops;
    Neighbours neighbours{hops};
    Assembled assembled{neighbours};
    Yields yields;
    node::Board board;
    node::Slot *own = nullptr; // on the board; null: there is none
    // For our own collectives: the program's on MPI_COMM_WORLD, right or wrong, meet none of them.
    MPI_Comm comm{};
};

// Hidden, it is reached without a table of addresses.
#pragma GCC visibility push(hidden)
extern constinit Crowd g_crowd;
#pragma GCC visibility pop

} // namespace sennit::mpi
