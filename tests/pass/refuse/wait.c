/* SPDX-License-Identifier: Apache-2.0
 * Waits that stay where they are. */
#include <mpi.h>

double whole[64];

void own_buffer(int to) {
#pragma omp task
    {
        MPI_Request request;
        double mine[2] = {to, 1};
        MPI_Isend(mine, 2, MPI_DOUBLE, to, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // missed: MPI_Wait suspends its task: its buffer is on the task's stack
    }
}

void then_read(int from, double *sum) {
#pragma omp task depend(out : whole)
    {
        MPI_Request request;
        MPI_Irecv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // missed: MPI_Wait suspends its task: its buffer may be touched by a read (line +1)
        *sum = whole[1];
    }
}

void status_read(int from, int *tag) {
#pragma omp task depend(out : whole)
    {
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status); // missed: MPI_Wait suspends its task: its status is used by a read (line +1)
        *tag = status.MPI_TAG;
    }
}
