/* SPDX-License-Identifier: Apache-2.0
 * What `sennit report` says of calls that end tasks, and of those in a program whose threads could
 * tell that a receive was started too early. */
#include <mpi.h>

enum { N = 64, BLOCKS = 6 };
static double in[BLOCKS][N], out[BLOCKS][N], ghost[N];
double field[N], next[N]; /* nothing is known of their other uses */
static int rank;

__attribute__((noinline)) static double at_once(void) {
    MPI_Recv(ghost, N, MPI_DOUBLE, 1 - rank, 90, MPI_COMM_WORLD, // moved: 1, where it stood
             MPI_STATUS_IGNORE);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1];
    return ghost[0];
}

int main(int argc, char **argv) {
    int provided;
    double sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < BLOCKS; ++i) {
        double *x = in[i], *y = out[i];
#pragma omp task depend(out : x[0])
        MPI_Recv(x, N, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, // moved: 12, bound to its task
                 MPI_STATUS_IGNORE);
#pragma omp task depend(in : y[0])
        MPI_Send(y, N, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD); // moved: 12, bound to its task
    }
    if (rank == 1)
        PMPI_Send(field, N, MPI_DOUBLE, 0, 90, MPI_COMM_WORLD);
    else
        sum = at_once();
    MPI_Finalize();
    return sum != 0;
}
