/* SPDX-License-Identifier: Apache-2.0
 * Receives in tasks: threads of a stock runtime wait in them, whatever the plug-in does. */
#include <mpi.h>

double whole[64];

void receives(int from, double *sum) {
#pragma omp task depend(out : whole)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it // warning: this receive inside a task can hang under a stock OpenMP runtime
#pragma omp task depend(out : whole)
    {
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole suspends its task: its buffer may be touched by a read of whole (line +1) // warning: this receive inside a task can hang under a stock OpenMP runtime
        *sum = whole[0];
    }
#pragma omp task depend(out : whole)
    {
        MPI_Request request;
        MPI_Irecv(whole, 64, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // done: MPI_Wait of whole is bound to its task, which ends without waiting for it // warning: this receive inside a task can hang under a stock OpenMP runtime
    }
#pragma omp task depend(in : whole)
    MPI_Send(whole, 64, MPI_DOUBLE, from, 3, MPI_COMM_WORLD); // done: MPI_Send of whole is bound to its task, which ends without waiting for it
}

void outside_of_tasks(int from) {
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole is waited for where it stands: nothing is to be done before the function's end
}
