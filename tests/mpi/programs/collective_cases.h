/* SPDX-License-Identifier: Apache-2.0
 * Every blocking collective, by number, with small data that everybody can check. */
#ifndef COLLECTIVE_CASES_H
#define COLLECTIVE_CASES_H

#include "check.h"

enum { most = 8, collectives = 18 };
static int ones[most], zeros[most], offsets[most], bytes[most];
static MPI_Datatype types[most], no_data;

static void run(int which, MPI_Comm comm) {
    int mine = rank + 1, all[most], twice[most], sum = ranks * (ranks + 1) / 2, got = -1;
    for (int i = 0; i < ranks; ++i) {
        twice[i] = 10 * rank + i;
        all[i] = -1;
    }
    switch (which) {
    case 0:
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
        break;
    case 1:
        got = rank == 0 ? 42 : -1;
        MPI_Bcast(&got, 1, MPI_INT, 0, comm);
        CHECK(got == 42);
        break;
    case 2:
        MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
        for (int i = 0; rank == 0 && i < ranks; ++i)
            CHECK(all[i] == i + 1);
        break;
    case 3:
        MPI_Gatherv(&mine, 1, MPI_INT, all, ones, offsets, MPI_INT, 0, comm);
        for (int i = 0; rank == 0 && i < ranks; ++i)
            CHECK(all[i] == i + 1);
        break;
    case 4:
        MPI_Scatter(twice, 1, MPI_INT, &got, 1, MPI_INT, 0, comm);
        CHECK(got == rank);
        break;
    case 5:
        MPI_Scatterv(twice, ones, offsets, MPI_INT, &got, 1, MPI_INT, 0, comm);
        CHECK(got == rank);
        break;
    case 6:
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == i + 1);
        break;
    case 7:
        all[rank] = mine;
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, ones, offsets, MPI_INT, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == i + 1);
        break;
    case 8:
        MPI_Alltoall(twice, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == 10 * i + rank);
        break;
    case 9:
        MPI_Alltoallv(twice, ones, offsets, MPI_INT, all, ones, offsets, MPI_INT, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == 10 * i + rank);
        break;
    case 10:
        MPI_Alltoallw(twice, ones, bytes, types, all, ones, bytes, types, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == 10 * i + rank);
        break;
    case 11:
        MPI_Reduce(&mine, &got, 1, MPI_INT, MPI_SUM, 0, comm);
        CHECK(rank != 0 || got == sum);
        break;
    case 12:
        got = mine;
        MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, comm);
        CHECK(got == sum);
        break;
    case 13:
        MPI_Reduce_scatter(twice, &got, ones, MPI_INT, MPI_SUM, comm);
        CHECK(got == 10 * ranks * (ranks - 1) / 2 + ranks * rank);
        break;
    case 14:
        MPI_Reduce_scatter_block(twice, &got, 1, MPI_INT, MPI_SUM, comm);
        CHECK(got == 10 * ranks * (ranks - 1) / 2 + ranks * rank);
        break;
    case 15:
        MPI_Scan(&mine, &got, 1, MPI_INT, MPI_SUM, comm);
        CHECK(got == mine * (mine + 1) / 2);
        break;
    case 16: /* no data on both sides: a count of zero, and a type without any */
        MPI_Alltoallv(twice, zeros, offsets, MPI_INT, all, ones, offsets, no_data, comm);
        MPI_Alltoallv(twice, ones, offsets, no_data, all, zeros, offsets, MPI_INT, comm);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == -1);
        break;
    default:
        MPI_Exscan(&mine, &got, 1, MPI_INT, MPI_SUM, comm);
        CHECK(rank == 0 || got == rank * (rank + 1) / 2);
        break;
    }
}

static void prepare(void) {
    CHECK(ranks <= most);
    for (int i = 0; i < most; ++i) {
        ones[i] = 1;
        offsets[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Type_contiguous(0, MPI_INT, &no_data);
    MPI_Type_commit(&no_data);
}

#endif
