/* SPDX-License-Identifier: Apache-2.0
 * One file calls them by itself: so all calls block, and match, and that is said once.
 * Compiled with -sennit-collectives. */
// stock
// with: broadcasts.c
// says: sennit: collective calls stay blocking: some of the program are not compiled with -sennit-collectives
#include <mpi.h>

void broadcast_twice(int *x, int *y);

__attribute__((noinline)) static void twice(int *x, int *y) {
    MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(y, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank == 0 ? 5 : 0, y = rank == 0 ? 6 : 0;
    if (rank == 0)
        twice(&x, &y);
    else
        broadcast_twice(&x, &y);
    MPI_Finalize();
    return x != 5 || y != 6;
}
