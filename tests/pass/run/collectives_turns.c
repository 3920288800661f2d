/* SPDX-License-Identifier: Apache-2.0
 * Tasks that nothing orders, of one thread: some make communicators, by helper threads, others make
 * collective calls on the same communicator. Ranks come to them at different times, and yet make
 * all calls in the same order. Compiled with -sennit-collectives. */
#include <mpi.h>
#include <time.h>

enum { ROUNDS = 12, EACH = 3 };
static MPI_Comm made[ROUNDS][EACH];
static int sums[ROUNDS][EACH], roots[ROUNDS][EACH];

static void make_tasks(int round, int rank) {
    for (int k = 0; k < EACH; ++k) {
#pragma omp task firstprivate(round, k, rank)
        MPI_Comm_split(MPI_COMM_WORLD, k == 1 ? rank : 0, 0, &made[round][k]);
#pragma omp task firstprivate(round, k, rank)
        {
            const int mine = rank + round + k;
            MPI_Allreduce(&mine, &sums[round][k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
#pragma omp task firstprivate(round, k)
        MPI_Bcast(&roots[round][k], 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int provided, rank, failures = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < ROUNDS; ++i) {
        for (int k = 0; k < EACH; ++k)
            roots[i][k] = rank == 0 ? i + k : -1;
        make_tasks(i, rank);
        if (rank == i % 2)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        if (i % 3 == 2) {
#pragma omp taskwait
        }
    }
    for (int i = 0; i < ROUNDS; ++i)
        for (int k = 0; k < EACH; ++k) {
            int size;
            MPI_Comm_size(made[i][k], &size);
            failures += size != (k == 1 ? 1 : 2) || sums[i][k] != 2 * (i + k) + 1 || roots[i][k] != i + k;
            MPI_Comm_free(&made[i][k]);
        }
    MPI_Finalize();
    return failures != 0;
}
