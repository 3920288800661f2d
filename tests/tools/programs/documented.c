/* SPDX-License-Identifier: Apache-2.0
 * part: # documented_test.py builds it
 * The program that the pages call ./app: tasks that exchange a number with the ranks beside them.
 * It is C and C++, and works without OpenMP. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided = 0, rank = 0, ranks = 1, sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < 4; ++step) {
#pragma omp task shared(sum) firstprivate(step)
        {
            int got = 0;
            if (ranks > 1) { // small messages: no send waits for its receive
                MPI_Send(&rank, 1, MPI_INT, right, step, MPI_COMM_WORLD);
                MPI_Recv(&got, 1, MPI_INT, left, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
#pragma omp atomic
            sum += got;
        }
    }
    printf("rank %d of %d: %s\n", rank, ranks, sum == 4 * left ? "well" : "wrong");
    MPI_Finalize();
    return sum != 4 * left;
}
