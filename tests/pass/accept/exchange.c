/* SPDX-License-Identifier: Apache-2.0
 * MPI_Sendrecv: started where it stands and waited for later; and bound to its task. */
#include <mpi.h>

enum { N = 1000 };
extern double *blocks[16];
double ghost[64], out[64], field[N], next[N];

void crossed(int other) {
    MPI_Sendrecv(out, 64, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Sendrecv of ghost is waited for only before a read of ghost (line +3)
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1] + out[i % 64];
    next[0] = ghost[0];
}

void written_early(int other) {
    MPI_Sendrecv(out, 64, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Sendrecv of ghost is waited for only before a write of out (line +3)
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    out[0] = 0;
}

void behind_a_send(int other) {
    MPI_Send(field, 8, MPI_DOUBLE, other, 1, MPI_COMM_WORLD); // done: 2 sends and receives are started together and waited for once
    MPI_Sendrecv(out, 64, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once
}

void ends_task(int other) {
    double *x = blocks[0], *y = blocks[1];
#pragma omp task depend(out : x[0]) depend(in : y[0])
    MPI_Sendrecv(y, 64, MPI_DOUBLE, other, 0, x, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Sendrecv is bound to its task, which ends without waiting for it
}
