/* SPDX-License-Identifier: Apache-2.0
 * build_once: -Wno-stringop-overflow -Wno-stringop-overread
 * once: mpi.{program}.on.{mpi} shape=6x1 timeout=120 SENNIT_DOORBELLS=on pass='^graphs\n$'
 * once: mpi.{program}.off.{mpi} mpi=openmpi shape=6x1 timeout=120 SENNIT_DOORBELLS=off
 *     pass='^graphs\n$' # MPICH: six ranks that do not yield, on two cores
 * MPI_Dist_graph_create on communicators on which any number of non-blocking collectives were made
 * before, and in turns with other calls that make communicators. Open MPI, bare, hangs after 18 and
 * after 21 of them, for some collective then has the tag of the graph's own messages. */
#include "check.h"

/* A ring: each rank says whom it sends to. */
static void make_graph(MPI_Comm comm) {
    const int own = rank, one = 1, to = next();
    MPI_Comm graph;
    MPI_Dist_graph_create(comm, 1, &own, &one, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    int in, out, weighted, source, destination;
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && !weighted);
    MPI_Dist_graph_neighbors(graph, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED);
    CHECK(source == previous() && destination == next());
    MPI_Comm_free(&graph);
}

/* On a communicator that has made `collectives`, all at once or one after the other. */
static void after(int collectives, int at_once) {
    enum { most = 30 };
    MPI_Comm comm;
    MPI_Request requests[most];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < collectives; ++i) {
        MPI_Ibarrier(comm, &requests[i]);
        if (!at_once)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    if (at_once)
        MPI_Waitall(collectives, requests, MPI_STATUSES_IGNORE);
    for (int graphs = 0; graphs < 3; ++graphs)
        make_graph(comm);
    MPI_Comm_free(&comm);
}

static void in_turns(void) {
    MPI_Group all, even;
    const int members[3] = {0, 2, 4};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, (ranks + 1) / 2, members, &even);
    for (int round = 0; round < 12; ++round) {
        MPI_Comm copy, half;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        make_graph(MPI_COMM_WORLD);
        MPI_Comm_create(MPI_COMM_WORLD, even, &half);
        MPI_Comm_free(&copy);
        if (half != MPI_COMM_NULL)
            MPI_Comm_free(&half);
    }
    MPI_Group_free(&even);
    MPI_Group_free(&all);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(ranks <= 6);
    in_turns();
    for (int collectives = 0; collectives < 30; ++collectives)
        after(collectives, collectives % 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("graphs");
    MPI_Finalize();
    return 0;
}
