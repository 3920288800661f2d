/* SPDX-License-Identifier: Apache-2.0
 * Sends that are started together. */
#include <mpi.h>

extern double *blocks[16];
double ghost[4][64], marks[64];
void touch(void);

void straight(int left, int right) {
    MPI_Send(ghost[0], 64, MPI_DOUBLE, left, 0, MPI_COMM_WORLD); // done: 2 sends are started together and waited for once
    MPI_Send(ghost[1], 64, MPI_DOUBLE, right, 1, MPI_COMM_WORLD); // done: 2 sends are started together and waited for once
    touch();
}

void to_all(const double *x, int length, int rank, int ranks) {
    for (int other = 0; other < ranks; ++other)
        if (other != rank)
            MPI_Send(x, length, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // done: the sends of this loop are started together and waited for behind it
    touch();
}

void table(int to) {
    for (int i = 0; i < 16; ++i)
        MPI_Send(blocks[i], 64, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // done: the sends of this loop are started together and waited for behind it
}
