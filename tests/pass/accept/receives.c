/* SPDX-License-Identifier: Apache-2.0
 * Receives that are started together, alone and with sends in front. */
#include <mpi.h>

extern double *blocks[16];
double ghost[4][64], out[4][64];
void touch(void);
void use(int tag);

void straight(int left, int right) {
    MPI_Recv(ghost[0], 64, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once
    MPI_Recv(ghost[1], 64, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 receives are started together and waited for once
    touch();
}

void exchange(int left, int right) {
    MPI_Send(out[0], 64, MPI_DOUBLE, left, 0, MPI_COMM_WORLD); // done: 4 sends and receives are started together and waited for once
    MPI_Send(out[1], 64, MPI_DOUBLE, right, 1, MPI_COMM_WORLD); // done: 4 sends and receives are started together and waited for once
    MPI_Recv(ghost[0], 64, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 4 sends and receives are started together and waited for once
    MPI_Recv(ghost[1], 64, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 4 sends and receives are started together and waited for once
}

/* blocks[i] is read while messages arrive: perhaps in blocks itself? */
void table(int from) {
    for (int i = 0; i < 16; ++i)
        MPI_Recv(blocks[i], 64, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: the receives of this loop are started together and waited for behind it
    touch();
}

void from_all(double *all, int length, int rank, int ranks) {
    for (int other = 0; other < ranks; ++other) {
        MPI_Status status;
        if (other != rank)
            MPI_Recv(all + (long)other * length, length, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &status); // done: the receives of this loop are started together and waited for behind it
    }
}

void any_source_with_status(int *tags) {
    MPI_Status first, second;
    MPI_Recv(ghost[0], 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first); // done: 2 receives are started together and waited for once
    MPI_Recv(ghost[1], 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second); // done: 2 receives are started together and waited for once
    tags[0] = first.MPI_TAG;
    tags[1] = second.MPI_TAG;
}

int last_status(double *all, int from) {
    MPI_Status status;
    for (int i = 0; i < 16; ++i)
        MPI_Recv(all + 8 * i, 8, MPI_DOUBLE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status); // done: the receives of this loop are started together and waited for behind it
    return status.MPI_TAG;
}
