/* SPDX-License-Identifier: Apache-2.0
 * Receives that are started before a loop, unless that uses their buffers: then the source's order
 * counts. The second one is started early only if the first one is. */
// stock
// suspensions: 0
#include "eager.h"

enum { ROWS = 10, WIDTH = 50, TAG = 4 };
static double from[ROWS + 2][WIDTH], to[ROWS + 2][WIDTH], apart[ROWS + 2][WIDTH];
static struct {
    int peer, tag;
} other = {0, TAG};

/* A row, and one that is nine rows below it. */
__attribute__((noinline)) static void smooth(const double *source, double *target, double *ghost,
                                             int n) {
    for (int i = 1; i < n; ++i)
        for (int k = 0; k < WIDTH; ++k)
            target[i * WIDTH + k] = source[i * WIDTH + k] * 0.5 + 1;
    MPI_Recv(ghost, WIDTH, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(ghost + 9 * WIDTH, WIDTH, MPI_DOUBLE, other.peer, other.tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Is everything as the source says, and were that many started early? */
static int differs(double (*ghost)[WIDTH], int n, int early) {
    int wrong = 0;
    for (int i = 0; i < ROWS + 2; ++i)
        for (int k = 0; k < WIDTH; ++k) {
            from[i][k] = i * 10 + k;
            to[i][k] = apart[i][k] = -1;
        }
    eager_look = &to[1][WIDTH - 1];
    eager_early = 0;
    smooth(from[0], to[0], ghost[0], n);
    eager_look = 0;
    for (int i = 0; i < ROWS + 2; ++i)
        for (int k = 0; k < WIDTH; ++k) {
            if (i == 0 || i == 9) /* where the messages go */
                wrong += ghost[i][k] != (i == 0 ? 1000 : 2000);
            if (i >= 1 && i < n && to[i] != ghost[9])
                wrong += to[i][k] != (i * 10 + k) * 0.5 + 1;
        }
    return wrong || eager_early != early;
}

static void send(double value) {
    double row[WIDTH];
    for (int k = 0; k < WIDTH; ++k)
        row[k] = value;
    MPI_Send(row, WIDTH, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 6; ++i) {
            send(1000);
            send(2000);
        }
    } else {
        failures |= differs(apart, ROWS, 2) << 0;
        failures |= differs(to, 9, 2) << 1; /* it writes the rows in between */
        failures |= differs(to, 10, 1) << 2;
        failures |= differs(from, 9, 2) << 3; /* it reads them */
        failures |= differs(from, 10, 1) << 4;
        failures |= differs(from + 1, 9, 0) << 5;
    }
    MPI_Finalize();
    return failures;
}
