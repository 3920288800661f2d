/* SPDX-License-Identifier: Apache-2.0
 * Collective calls that are started together, or waited for later, or bound.
 * Compiled with -sennit-collectives. */
#include <mpi.h>
#include <stddef.h>

double a[8], b[8], c[8], d[8], e[8], f[8], sums[8], x[1000], y[1000];
extern double *blocks[16];
void touch(void);

void six(MPI_Comm comm) {
    MPI_Bcast(a, 8, MPI_DOUBLE, 0, comm); // done: 6 collective calls are started together and waited for once
    MPI_Bcast(b, 8, MPI_DOUBLE, 1, comm); // done: 6 collective calls are started together and waited for once
    MPI_Bcast(c, 8, MPI_DOUBLE, 0, comm); // done: 6 collective calls are started together and waited for once
    MPI_Bcast(d, 8, MPI_DOUBLE, 1, comm); // done: 6 collective calls are started together and waited for once
    MPI_Bcast(e, 8, MPI_DOUBLE, 0, comm); // done: 6 collective calls are started together and waited for once
    MPI_Bcast(f, 8, MPI_DOUBLE, 1, comm); // done: 6 collective calls are started together and waited for once
    touch();
}

/* From all or from nobody: no rank can tell. */
void of_all(int root) {
    MPI_Allreduce(MPI_IN_PLACE, a, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // done: 3 collective calls are started together and waited for once
    MPI_Reduce(b, c, 8, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD); // done: 3 collective calls are started together and waited for once
    MPI_Allgather(d, 1, MPI_DOUBLE, e, 1, MPI_DOUBLE, MPI_COMM_WORLD); // done: 3 collective calls are started together and waited for once
    touch();
}

/* One root gathers all: it tells nobody. */
void to_one(const int *counts, const int *places) {
    MPI_Gatherv(a, 2, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD); // done: 2 collective calls are started together and waited for once
    MPI_Gatherv(c, 2, MPI_DOUBLE, d, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD); // done: 2 collective calls are started together and waited for once
    touch();
}

void table(int ranks) {
    for (int i = 0; i < 16; ++i)
        MPI_Bcast(blocks[i], 64, MPI_DOUBLE, i % ranks, MPI_COMM_WORLD); // done: the collective calls of this loop are started together and waited for behind it
    touch();
}

void meanwhile(void) {
    MPI_Allreduce(a, sums, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // done: MPI_Allreduce of sums is waited for only before a read of sums (line +3)
    for (int i = 0; i < 1000; ++i)
        y[i] = 2 * x[i] + y[i];
    y[0] += sums[0];
}

void task(void) {
#pragma omp task
    MPI_Allreduce(MPI_IN_PLACE, a, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // done: MPI_Allreduce of a is bound to its task, which ends without waiting for it
}

void meet(void) {
#pragma omp task
    MPI_Barrier(MPI_COMM_WORLD); // done: MPI_Barrier is bound to its task, which ends without waiting for it
}
