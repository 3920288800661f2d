/* SPDX-License-Identifier: Apache-2.0
 * Tasks outside of parallel regions go on from where they were suspended, and what depends on them
 * runs, at the latest in MPI_Finalize: other runtimes run them where they are created. */
#include "check.h"

static void delay(void) {
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < 0.1;) {
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    static int value = -1, seen = -1;
    if (rank == 0) {
        delay();
        const int sent = 5;
        MPI_Send(&sent, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 6);
    } else if (rank == 1) {
#pragma omp task depend(out : value) shared(value)
        {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ++value;
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
#pragma omp task depend(in : value) shared(value, seen)
        seen = value;
    }
    MPI_Finalize();
    if (rank == 1 && seen != 6) {
        fprintf(stderr, "a task was lost: %d\n", seen);
        return 1;
    }
    return 0;
}
