// SPDX-License-Identifier: Apache-2.0
// An exception that is not MPI's would go through functions with destructors. Compiled with -sennit-detach.
#include <mpi.h>

struct Owner {
    ~Owner();
};

void to_others(double *x, int me, int ranks) {
    Owner owner;
#pragma omp taskwait depend(in : x[0])
    for (int rank = 0; rank < ranks; ++rank)
        if (rank != me)
            MPI_Send(x, 64, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
}

void to_one(double *x, int to) {
    Owner owner;
#pragma omp taskwait depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // done: MPI_Send does not hold up the creator of its task
}
