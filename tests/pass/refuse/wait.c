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
        MPI_Wait(&request, MPI_STATUS_IGNORE); // missed: MPI_Wait of whole suspends its task: its buffer may be touched by a read of whole (line +1)
        *sum = whole[1];
    }
}

void status_read(int from, int *tag) {
#pragma omp task depend(out : whole)
    {
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status); // missed: MPI_Wait of whole suspends its task: its status is used by a read (line +1)
        *tag = status.MPI_TAG;
    }
}

void one_own_buffer(int other) {
#pragma omp task
    {
        MPI_Request requests[2];
        double mine[2] = {other, 1};
        MPI_Irecv(whole, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(mine, 2, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // missed: MPI_Waitall suspends its task: its buffer is on the task's stack
    }
}

void one_read(int other, double *sum, double *out) {
#pragma omp task
    {
        MPI_Request requests[2];
        MPI_Irecv(whole, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 2, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // missed: MPI_Waitall suspends its task: its buffer may be touched by a read of whole (line +1)
        *sum = whole[1];
    }
}

void statuses_read(int other, int *tag) {
#pragma omp task
    {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        for (int i = 0; i < 2; ++i)
            MPI_Irecv(whole + i, 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(2, requests, statuses); // missed: MPI_Waitall of whole suspends its task: its status is used by a read (line +1)
        *tag = statuses[1].MPI_TAG;
    }
}
