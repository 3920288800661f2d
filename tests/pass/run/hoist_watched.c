/* SPDX-License-Identifier: Apache-2.0
 * A program that has asked for threads that call MPI: each of its receives is started where it
 * stands, for another thread may notice. */
// stock
// suspensions: 0
#include "eager.h"

enum { N = 50, TAG = 4 };
static double source[N], target[N], ghost[N];
static volatile int nothing; /* the compiler does not know that */

__attribute__((noinline)) static void receive(int n, int peer) {
    for (int i = 0; i < n; ++i)
        target[i] = source[i] + 1;
    MPI_Recv(ghost, N, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, level, failures = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    eager_look = &target[0];
    if (rank == 0) {
        source[3] = 7;
        MPI_Send(source, N, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    } else {
        receive(N + nothing, 0 + nothing);
        failures = ghost[3] != 7 || target[3] != 1 ||
                   (level == MPI_THREAD_MULTIPLE && eager_early != 0);
    }
    MPI_Finalize();
    return failures;
}
