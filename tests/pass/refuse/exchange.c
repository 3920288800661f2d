/* SPDX-License-Identifier: Apache-2.0
 * MPI_Sendrecv that is waited for where it stands. */
#include <mpi.h>

enum { N = 1000 };
double ghost[64], out[64], field[N], next[N];

/* What has come may be what allows the next send. */
void in_a_row(int left, int right) {
    MPI_Sendrecv(out, 64, MPI_DOUBLE, left, 0, ghost, 64, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of ghost is waited for where it stands: nothing is to be done before a call of MPI_Sendrecv (line +1)
    MPI_Sendrecv(field, 64, MPI_DOUBLE, right, 1, next, 64, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of next is waited for where it stands: nothing is to be done before the function's end
}

void in_a_loop(int ranks) {
    for (int i = 0; i < ranks; ++i)
        MPI_Sendrecv(out + i, 1, MPI_DOUBLE, i, 0, ghost + i, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: a call of MPI_Sendrecv (line +0)
}

int error_used(int other) {
    const int error = MPI_Sendrecv(out, 64, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of ghost is waited for where it stands: its error code is used, or it may throw
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    return error;
}

void absolute(int other, MPI_Datatype type) {
    MPI_Sendrecv(MPI_BOTTOM, 1, type, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of ghost is waited for where it stands: its buffer is given by absolute addresses
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
}

void own_buffer(int other) {
#pragma omp task depend(out : ghost)
    {
        double mine[2] = {other, 1};
        MPI_Sendrecv(mine, 2, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of ghost suspends its task: its buffer is on the task's stack
    }
}

void read_behind(int other, double *sum) {
#pragma omp task depend(out : ghost)
    {
        MPI_Sendrecv(out, 2, MPI_DOUBLE, other, 0, ghost, 64, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Sendrecv of ghost suspends its task: its buffer may be touched by a read of ghost (line +1)
        *sum = ghost[0];
    }
}
