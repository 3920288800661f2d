/* SPDX-License-Identifier: Apache-2.0
 * Receives that are waited for one by one. */
#include <mpi.h>

extern double *blocks[16];
extern MPI_Status kept;
double ghost[4][64], whole[64];
void touch(void);

void one_buffer(int from, int n) {
    for (int i = 0; i < n; ++i)
        MPI_Recv(whole, 64, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: each round receives into the same memory
}

double used(int from, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        MPI_Recv(ghost[i], 64, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: a read (line +1)
        sum += ghost[i][0];
    }
    return sum;
}

void calls(int from) {
    for (int i = 0; i < 16; ++i) {
        MPI_Recv(blocks[i], 8, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: a call of touch (line +1)
        touch();
    }
}

/* A barrier made by hand: no send before all have come. */
void relay(int others) {
    for (int i = 0; i < others; ++i) {
        MPI_Recv(&ghost[0][i], 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: the receives of this loop are waited for one by one: a call of MPI_Send (line +1) // done: MPI_Recv of ghost is waited for only before a call of MPI_Send (line +1)
        MPI_Send(&whole[i], 1, MPI_DOUBLE, i + 1, 0, MPI_COMM_WORLD); // done: MPI_Send of whole is waited for only before a call of MPI_Send (line +0), and at 1 more
    }
}

void status_known(int from) {
    for (int i = 0; i < 16; ++i)
        MPI_Recv(blocks[i], 8, MPI_DOUBLE, from, i, MPI_COMM_WORLD, &kept); // missed: the receives of this loop are waited for one by one: its status is kept
}

int status_read(double *all, int from) {
    int sum = 0;
    for (int i = 0; i < 16; ++i) {
        MPI_Status status;
        MPI_Recv(all + 8 * i, 8, MPI_DOUBLE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status); // missed: the receives of this loop are waited for one by one: a variable that begins or ends there (line -1)
        sum += status.MPI_TAG;
    }
    return sum;
}

/* Neither is together with its neighbour. */
double in_a_row(int other) {
    MPI_Recv(whole, 8, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole is waited for where it stands: nothing is to be done before a call of MPI_Send (line +1)
    MPI_Send(ghost[0], 8, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // missed: MPI_Send of ghost is waited for where it stands: nothing is to be done before a call of touch (line +1)
    touch();
    MPI_Recv(whole, 8, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole is waited for where it stands: nothing is to be done before a read of whole (line +1)
    const double first = whole[0];
    MPI_Recv(ghost[1], 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before a call of MPI_Recv (line +1)
    MPI_Recv(ghost[1], 8, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of ghost is waited for where it stands: nothing is to be done before the function's end
    return first;
}
