/* SPDX-License-Identifier: Apache-2.0
 * Two ranks share the buffer of the second receive: the other one uses it until it sends the first
 * message. */
// stock
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int go;

__attribute__((noinline)) static void receive(int *flag, int *shared) {
    MPI_Recv(flag, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(shared, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, unit, bad = 0;
    MPI_Aint size;
    MPI_Win window;
    int *shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &shared, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &shared);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (rank == 0) {
        receive(&go, shared);
        bad = *shared != 5;
    } else {
        const int five = 5;
        MPI_Send(&five, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        usleep(50000);
        *shared = 9;
        MPI_Win_sync(window);
        MPI_Send(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    if (bad)
        fprintf(stderr, "rank %d: %d instead of what was received last\n", rank, *shared);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return bad;
}
