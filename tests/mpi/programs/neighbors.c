/* SPDX-License-Identifier: Apache-2.0
 * test: # MPICH 4.0's persistent collectives fail on more ranks
 * chaos: number=8
 * split:
 * Neighbourhood collectives and, since MPI 4.0, persistent collectives in tasks. */
#include "cases.h"

enum { most = 8 };
static int ones[most], offsets[most], bytes[most];
static MPI_Aint places[2];
static MPI_Datatype types[most];

static MPI_Comm ring_of(MPI_Comm comm) {
    MPI_Comm ring;
    const int periodic = 1;
    MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
    return ring;
}

/* From the left and from the right. */
static void check(const int *in, int from_left, int from_right) {
    CHECK(in[0] == from_left && in[1] == from_right);
}

static void gathers(MPI_Comm comm) {
    MPI_Comm ring = ring_of(comm);
    int in[2] = {-1, -1};
    CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring) == MPI_SUCCESS);
    check(in, previous(), next());
    in[0] = in[1] = -1;
    CHECK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, in, ones, offsets, MPI_INT, ring) ==
          MPI_SUCCESS);
    check(in, previous(), next());
    MPI_Comm_free(&ring);
}

/* With one rank or two, left and right are the same rank, and MPICH 4.0 mixes up what comes from
 * where in the forms with counts. */
#ifdef MPICH_VERSION
enum { only_plain = 1 };
#else
enum { only_plain = 0 };
#endif

static void exchanges(MPI_Comm comm) {
    MPI_Comm ring = ring_of(comm);
    const int out[2] = {10 * rank, 10 * rank + 1};
    for (int kind = 0; kind < 3; ++kind) {
        int in[2] = {-1, -1};
        if (kind == 0)
            MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
        else if (kind == 1)
            MPI_Neighbor_alltoallv(out, ones, offsets, MPI_INT, in, ones, offsets, MPI_INT, ring);
        else
            MPI_Neighbor_alltoallw(out, ones, places, types, in, ones, places, types, ring);
        if (ranks > 2 || kind == 0 || !only_plain)
            check(in, 10 * previous() + 1, 10 * next());
    }
    MPI_Comm_free(&ring);
}

#if MPI_VERSION >= 4
static void run_twice(MPI_Request *request) {
    for (int round = 0; round < 2; ++round) {
        CHECK(MPI_Start(request) == MPI_SUCCESS);
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(*request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(request);
}

static void persistent(MPI_Comm comm) {
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Request request;
    int all[most], twice[most], mine = rank + 1, got;
    const int sum = ranks * (ranks + 1) / 2, before = rank * (rank + 1) / 2;
    for (int i = 0; i < most; ++i)
        twice[i] = 10 * rank + i;
    MPI_Barrier_init(comm, none, &request);
    run_twice(&request);
    got = rank ? -1 : 42;
    MPI_Bcast_init(&got, 1, MPI_INT, 0, comm, none, &request);
    run_twice(&request);
    CHECK(got == 42);
    MPI_Gather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm, none, &request);
    run_twice(&request);
    CHECK(rank || all[ranks - 1] == ranks);
    MPI_Gatherv_init(&mine, 1, MPI_INT, all, ones, offsets, MPI_INT, 0, comm, none, &request);
    run_twice(&request);
    CHECK(rank || all[ranks - 1] == ranks);
    MPI_Scatter_init(twice, 1, MPI_INT, &got, 1, MPI_INT, 0, comm, none, &request);
    run_twice(&request);
    CHECK(got == rank);
    MPI_Scatterv_init(twice, ones, offsets, MPI_INT, &got, 1, MPI_INT, 0, comm, none, &request);
    run_twice(&request);
    CHECK(got == rank);
    MPI_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, none, &request);
    run_twice(&request);
    CHECK(all[ranks - 1] == ranks);
    MPI_Allgatherv_init(&mine, 1, MPI_INT, all, ones, offsets, MPI_INT, comm, none, &request);
    run_twice(&request);
    CHECK(all[ranks - 1] == ranks);
    MPI_Alltoall_init(twice, 1, MPI_INT, all, 1, MPI_INT, comm, none, &request);
    run_twice(&request);
    CHECK(all[ranks - 1] == 10 * (ranks - 1) + rank);
    MPI_Alltoallv_init(twice, ones, offsets, MPI_INT, all, ones, offsets, MPI_INT, comm, none,
                       &request);
    run_twice(&request);
    CHECK(all[ranks - 1] == 10 * (ranks - 1) + rank);
    MPI_Alltoallw_init(twice, ones, bytes, types, all, ones, bytes, types, comm, none, &request);
    run_twice(&request);
    CHECK(all[ranks - 1] == 10 * (ranks - 1) + rank);
    MPI_Reduce_init(&mine, &got, 1, MPI_INT, MPI_SUM, 0, comm, none, &request);
    run_twice(&request);
    CHECK(rank || got == sum);
    MPI_Allreduce_init(&mine, &got, 1, MPI_INT, MPI_SUM, comm, none, &request);
    run_twice(&request);
    CHECK(got == sum);
    MPI_Reduce_scatter_init(twice, &got, ones, MPI_INT, MPI_SUM, comm, none, &request);
    run_twice(&request);
    CHECK(got == 10 * ranks * (ranks - 1) / 2 + ranks * rank);
    MPI_Reduce_scatter_block_init(twice, &got, 1, MPI_INT, MPI_SUM, comm, none, &request);
    run_twice(&request);
    CHECK(got == 10 * ranks * (ranks - 1) / 2 + ranks * rank);
    MPI_Scan_init(&mine, &got, 1, MPI_INT, MPI_SUM, comm, none, &request);
    run_twice(&request);
    CHECK(got == before + mine);
    MPI_Exscan_init(&mine, &got, 1, MPI_INT, MPI_SUM, comm, none, &request);
    run_twice(&request);
    CHECK(!rank || got == before);
}

static void persistent_neighbors(MPI_Comm comm) {
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Comm ring = ring_of(comm);
    MPI_Request request;
    const int out[2] = {10 * rank, 10 * rank + 1};
    int in[2] = {-1, -1};
    MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, in, 1, MPI_INT, ring, none, &request);
    run_twice(&request);
    check(in, previous(), next());
    MPI_Neighbor_allgatherv_init(&rank, 1, MPI_INT, in, ones, offsets, MPI_INT, ring, none,
                                 &request);
    run_twice(&request);
    check(in, previous(), next());
    MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, none, &request);
    run_twice(&request);
    MPI_Neighbor_alltoallv_init(out, ones, offsets, MPI_INT, in, ones, offsets, MPI_INT, ring, none,
                                &request);
    run_twice(&request);
    MPI_Neighbor_alltoallw_init(out, ones, places, types, in, ones, places, types, ring, none,
                                &request);
    run_twice(&request);
    if (ranks > 2)
        check(in, 10 * previous() + 1, 10 * next());
    MPI_Comm_free(&ring);
}
#endif

int main(int argc, char **argv) {
    static const struct test_case cases[] = {CASE(gathers), CASE(exchanges)};
    begin(&argc, &argv);
    CHECK(ranks <= most);
    for (int i = 0; i < most; ++i) {
        ones[i] = 1;
        offsets[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    places[1] = sizeof(int);
    run_cases(cases, COUNT_OF(cases), 3);
#if MPI_VERSION >= 4
    static const struct test_case newer[] = {CASE(persistent), CASE(persistent_neighbors)};
    run_cases(newer, COUNT_OF(newer), 3);
#endif
    MPI_Finalize();
    return 0;
}
