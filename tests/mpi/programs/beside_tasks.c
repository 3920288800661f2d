/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2|4x1
 * chaos: number=28
 * Collectives of the thread that creates tasks, whose tasks have ended on some ranks and not on
 * others: they meet all the same. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel
#pragma omp single
        {
            int received = -1;
            MPI_Request request;
#pragma omp task shared(received)
            MPI_Recv(&received, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const int early = (rank + round) % 2 == 0;
            if (early) {
                MPI_Isend(&round, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
#pragma omp taskwait
                CHECK(received == round);
            }
            int sum = 0, value = rank == 0 ? round : -1;
            MPI_Comm twin;
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == ranks * (ranks - 1) / 2);
            MPI_Comm_dup(MPI_COMM_WORLD, &twin);
            MPI_Bcast(&value, 1, MPI_INT, 0, twin);
            CHECK(value == round);
            MPI_Barrier(twin);
            MPI_Comm_free(&twin);
            if (!early)
                MPI_Isend(&round, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
#pragma omp taskwait
            CHECK(received == round);
        }
    }
    MPI_Finalize();
    return 0;
}
