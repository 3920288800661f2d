/* SPDX-License-Identifier: Apache-2.0
 * What `sennit report` says of collective calls. Compiled with -sennit-collectives. */
#include <mpi.h>

enum { N = 64, ROUNDS = 3 };
static double x[N], y[N];
double sum; /* nothing is known of its other uses */

__attribute__((noinline)) static void two(void) {
    MPI_Bcast(x, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); // moved: 6, together with 1
    MPI_Bcast(y, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); // moved: 6, together with 1
}

__attribute__((noinline)) static void later(const double *field, int n) {
    double all;
    MPI_Allreduce(&x[0], &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); // moved: 6, waited for later
    for (int i = 0; i < n; ++i)
        sum += field[i];
    sum += all;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double field[N] = {rank};
    for (int round = 0; round < ROUNDS; ++round) {
        if (rank == 0)
            x[0] = y[0] = round + 1;
        two();
        later(field, N);
    }
    MPI_Finalize();
    return sum != 6 + ROUNDS * rank || y[0] != ROUNDS;
}
