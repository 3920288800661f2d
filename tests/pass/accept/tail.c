/* SPDX-License-Identifier: Apache-2.0
 * Calls that end tasks. */
#include <mpi.h>

extern double *blocks[16];
double whole[64];
static int tags[16];

void receive(int from) {
    for (int i = 0; i < 16; ++i) {
        double *x = blocks[i];
#pragma omp task depend(out : x[0])
        MPI_Recv(x, 64, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it
    }
}

void unread_status(int from) {
#pragma omp task depend(out : whole)
    {
        MPI_Status status;
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it
    }
}

void work_before(int to) {
#pragma omp task depend(inout : whole)
    {
        for (int i = 0; i < 64; ++i)
            whole[i] += i;
        MPI_Ssend(whole, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Ssend of whole is bound to its task, which ends without waiting for it
    }
}

void to_all(int ranks) {
    double *x = blocks[0];
#pragma omp task depend(in : x[0])
    for (int rank = 0; rank < ranks; ++rank)
        MPI_Send(x, 64, MPI_DOUBLE, rank, tags[rank], MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it
}

static void exchange(double *out, int to) {
    MPI_Send(out, 8, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it
}
void below(int to) {
    double *x = blocks[1];
#pragma omp task depend(in : x[0])
    if (to >= 0)
        exchange(x, to);
}

void send_then_receive(int other) {
    static double in[8], out[8];
#pragma omp task depend(in : out) depend(out : in)
    {
        MPI_Send(out, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); // done: MPI_Send of out is bound to its task, which ends without waiting for it
        MPI_Recv(in, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of in is bound to its task, which ends without waiting for it
    }
}

void each_iteration(int to) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 16; ++i)
        MPI_Send(blocks[i], 64, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it
}
