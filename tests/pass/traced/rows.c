/* SPDX-License-Identifier: Apache-2.0
 * What `sennit report` says of calls without tasks: each is waited for later, or together with
 * others. */
#include <mpi.h>
#include <stdio.h>

enum { N = 64, ROUNDS = 5, PARTS = 4 };
static double ghost[N], out[N], parts[PARTS][N], here[N], there[N];
double field[N], next[N]; /* nothing is known of their other uses */
static int rank;

#define APART __attribute__((noinline))

APART static double later(void) {
    double sum = 0;
    MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); // moved: 10, together with 1
    MPI_Recv(ghost, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, // moved: 10, together with 1
             MPI_STATUS_IGNORE);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    for (int i = 0; i < N; ++i)
        sum += ghost[i];
    return sum;
}

APART static void exchange(void) {
    MPI_Sendrecv(here, N, MPI_DOUBLE, 1 - rank, 1, there, N, MPI_DOUBLE, 1 - rank, 1, // moved: 10, waited for later
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
}

APART static void loop(void) {
    for (int i = 0; i < PARTS; ++i)
        MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 2 + i, MPI_COMM_WORLD); // moved: 40, together with 3
}

APART static void loop_of_receives(void) {
    for (int i = 0; i < PARTS; ++i)
        MPI_Recv(parts[i], N, MPI_DOUBLE, 1 - rank, 2 + i, MPI_COMM_WORLD, // moved: 40, together with 3
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0;
    for (int i = 0; i < N; ++i)
        out[i] = here[i] = rank + 1;
    for (int round = 0; round < ROUNDS; ++round) {
        sum += later();
        exchange();
        loop();
        loop_of_receives();
        sum += there[0] + parts[PARTS - 1][0];
    }
    MPI_Finalize();
    if (sum != ROUNDS * (N + 2) * (2 - rank))
        fprintf(stderr, "rank %d: %g\n", rank, sum);
    return sum != ROUNDS * (N + 2) * (2 - rank);
}
