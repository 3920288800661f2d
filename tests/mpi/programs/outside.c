/* SPDX-License-Identifier: Apache-2.0
 * Calls outside of tasks are bare MPI: before, in and after parallel regions, and in a program that
 * asked for less than MPI_THREAD_MULTIPLE. */
#include "check.h"

int main(int argc, char **argv) {
    int provided = -1, level = -1, value = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    MPI_Query_thread(&level);
    CHECK(level == provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, next(), 0, &value, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(value == previous());
#pragma omp parallel
#pragma omp master
    {
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks * (ranks - 1) / 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
