/* SPDX-License-Identifier: Apache-2.0
 * A synchronous send says that its receive was posted, so that the receive before is complete. */
// stock
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int first[4], second[4];

int main(int argc, char **argv) {
    int rank, early = 0, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(first, 4, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(second, 4, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bad = first[0] != 3 || second[0] != 4;
    } else {
        MPI_Request request;
        first[0] = 3;
        second[0] = 4;
        MPI_Issend(second, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 100 && !early; ++i) {
            usleep(1000);
            MPI_Test(&request, &early, MPI_STATUS_IGNORE);
        }
        MPI_Send(first, 4, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (!early)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (early || bad)
        fprintf(stderr, "rank %d: %s\n", rank, early ? "the second receive was posted too early" : "wrong numbers");
    MPI_Finalize();
    return early || bad;
}
