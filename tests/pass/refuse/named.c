/* SPDX-License-Identifier: Apache-2.0
 * Compiled with -g: what prevents it has a name. */
#include <mpi.h>

void touch(void);

void named(double *whole, int to, int from, double *sum) {
    double copy[8] = {1};
#pragma omp task firstprivate(copy)
    MPI_Send(copy, 8, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer is a private copy of the task's
#pragma omp task
    {
        double own[8] = {2};
        MPI_Send(own, 8, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of own suspends its task: its buffer is on the task's stack
    }
#pragma omp task depend(out : whole[0])
    {
        MPI_Status status;
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // missed: MPI_Recv suspends its task: its status is used by a read of status (line +1) // warning: this receive inside a task can hang under a stock OpenMP runtime
        *sum = status.MPI_TAG;
    }
#pragma omp task depend(out : whole[0])
    {
        double *const first = whole;
        MPI_Recv(first, 64, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of first suspends its task: its buffer may be touched by a read of first (line +1) // warning: this receive inside a task can hang under a stock OpenMP runtime
        *sum += first[3];
    }
#pragma omp task depend(in : whole[0])
    MPI_Send(whole, 64, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it
}
