/* SPDX-License-Identifier: Apache-2.0
 * Loops of sends that are left alone. */
#include <mpi.h>

extern double *blocks[16];
extern volatile int seen;
void touch(void);

void refilled(int to) {
    static double one[8];
    for (int i = 0; i < 16; ++i) {
        one[0] = i;
        MPI_Send(one, 8, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // missed: the sends of this loop are waited for one by one: a write (line -1)
    }
}

void calls(int to) {
    for (int i = 0; i < 16; ++i) {
        MPI_Send(blocks[i], 8, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // missed: the sends of this loop are waited for one by one: a call of touch (line +1)
        touch();
    }
}

void volatile_in_between(int to) {
    for (int i = 0; i < 16; ++i) {
        MPI_Send(blocks[i], 8, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // missed: the sends of this loop are waited for one by one: a write (line +1)
        seen = i;
    }
}

void receives(int other) {
    for (int i = 0; i < 16; ++i) {
        MPI_Send(blocks[i], 8, MPI_DOUBLE, other, i, MPI_COMM_WORLD); // missed: the sends of this loop are waited for one by one: a call of MPI_Recv (line +1) // done: 2 sends and receives are started together and waited for once
        MPI_Recv(blocks[i], 8, MPI_DOUBLE, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: 2 sends and receives are started together and waited for once
    }
}

double temporary(int to) {
    double sum = 0;
    for (int i = 0; i < 16; ++i) {
        double mine[2] = {i, sum};
        sum += mine[0] * mine[1];
        MPI_Send(mine, 2, MPI_DOUBLE, to, i, MPI_COMM_WORLD); // missed: the sends of this loop are waited for one by one: a variable that begins or ends there (line -2)
    }
    return sum;
}

/* Nothing is said of these: collective calls stay as they are without the option. */
void broadcasts(double *x, double *y) {
    MPI_Bcast(x, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(y, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
