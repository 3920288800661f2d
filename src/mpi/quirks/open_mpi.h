// SPDX-License-Identifier: Apache-2.0
// Open MPI alone: what its own parts do at the wrong time.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// Open MPI's MPI_Dist_graph_create sends edges with tags -50 and -51 on the program's communicator,
// and receives them from anybody. The tags of non-blocking collectives count downwards on the same
// communicator and come past these two. Then a rank takes a message of a collective that another
// rank makes already, which MPI_Dist_graph_create itself does, for an edge, and all hang.
//
// A program that makes no such calls never meets this. But where Sennit makes its blocking
// collectives in the non-blocking form, it would. So tags are spent before the first graph of a
// communicator: as many as it takes to be past the two.

// In place of the MPI's.
int make_dist_graph(MPI_Comm comm, int count, const int sources[], const int degrees[],
                    const int destinations[], const int weights[], MPI_Info info, int reorder,
                    MPI_Comm *graph);

// Open MPI can yield by itself, each time that it looks for messages and finds none. Its launcher
// turns that on where it knows of more ranks than cores.

// Turn it on, also for the calls that only spin, or off, for all threads of the process. Does the
// MPI yield now in each test that is in vain? Another yield would then be one too many.
bool make_tests_yield(bool yields);

// Open MPI (seen with 4.1) loads what it needs for topologies and files in the first call that
// needs it, and two first calls at once crash it: so the first is made here, before any helper's.
void load_lazy_parts();

} // namespace sennit::mpi
