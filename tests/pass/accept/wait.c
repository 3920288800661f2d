/* SPDX-License-Identifier: Apache-2.0
 * Waits that end tasks. */
#include <mpi.h>

extern double *blocks[16];
double whole[64];

void begun_early(int from) {
    double *x = blocks[0];
#pragma omp task depend(out : x[0]) depend(inout : whole)
    {
        MPI_Request request;
        MPI_Irecv(x, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 64; ++i)
            whole[i] += i;
        MPI_Wait(&request, MPI_STATUS_IGNORE); // done: MPI_Wait is bound to its task, which ends without waiting for it
    }
}

void unread_status(int to) {
#pragma omp task depend(in : whole)
    {
        MPI_Request request;
        MPI_Status status;
        MPI_Isend(whole, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status); // done: MPI_Wait is bound to its task, which ends without waiting for it
    }
}
