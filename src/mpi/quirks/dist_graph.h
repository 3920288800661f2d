// SPDX-License-Identifier: Apache-2.0
// Open MPI's MPI_Dist_graph_create sends edges with tags -50 and -51 on the program's communicator,
// and receives them from anybody. The tags of non-blocking collectives count downwards on the same
// communicator and come past these two. Then a rank takes a message of a collective that another
// rank makes already, which MPI_Dist_graph_create itself does, for an edge, and all hang.
//
// A program that makes no such calls never meets this. But where Sennit makes its blocking
// collectives in the non-blocking form, it would. So tags are spent before the first graph of a
// communicator: as many as it takes to be past the two.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// In place of the MPI's.
int make_dist_graph(MPI_Comm comm, int count, const int sources[], const int degrees[],
                    const int destinations[], const int weights[], MPI_Info info, int reorder,
                    MPI_Comm *graph);

} // namespace sennit::mpi
