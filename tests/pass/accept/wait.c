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
        MPI_Wait(&request, &status); // done: MPI_Wait of whole is bound to its task, which ends without waiting for it
    }
}

void a_pair(int other) {
    double *in = blocks[0], *out = blocks[1];
#pragma omp task depend(out : in[0]) depend(in : out[0])
    {
        MPI_Request requests[2];
        MPI_Irecv(in, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // done: MPI_Waitall is bound to its task, which ends without waiting for it
    }
}

void many(int count) {
#pragma omp task depend(out : whole)
    {
        MPI_Request requests[count];
        MPI_Status statuses[count];
        for (int i = 0; i < count; ++i)
            MPI_Irecv(whole + i, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(count, requests, statuses); // done: MPI_Waitall of whole is bound to its task, which ends without waiting for it
    }
}
