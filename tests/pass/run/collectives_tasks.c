/* SPDX-License-Identifier: Apache-2.0
 * Collective calls that end tasks are bound to them. What depends on the task has what was sent.
 * Compiled with -sennit-collectives. */
// stock
// plain suspends
// suspensions: 0
#include <mpi.h>
#include <time.h>

enum { ROUNDS = 20 };
static double sums[ROUNDS][64], root[ROUNDS];

int main(int argc, char **argv) {
    int provided, rank, failures = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) /* so the other one has to wait */
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    char order = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < ROUNDS; ++i) {
        sums[i][63] = rank + i;
        root[i] = rank == 0 ? i : -1;
#pragma omp task depend(inout : order, sums[i])
        MPI_Allreduce(MPI_IN_PLACE, sums[i], 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp task depend(inout : order, root[i])
        MPI_Bcast(&root[i], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#pragma omp task depend(in : sums[i], root[i]) shared(failures)
        if (sums[i][63] != 2 * i + 1 || root[i] != i)
#pragma omp atomic
            ++failures;
    }
    MPI_Finalize();
    return failures != 0;
}
