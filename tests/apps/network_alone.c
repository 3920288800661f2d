/* SPDX-License-Identifier: Apache-2.0
 * test: apps.network_alone.{mpi} run='{sennit} run -n 2 {exe}' SENNIT_NETWORK=latency:100000 --
 *     0.2
 * A program without OpenMP that asks for no thread level: the injected network delays its messages
 * all the same. network_alone SECONDS   two ranks; a message there and back takes that long at
 * least
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, token = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - begin;
    MPI_Finalize();
    if (rank == 0 && took < 0.99 * atof(argv[1])) {
        fprintf(stderr, "there and back in %.6f s\n", took);
        return 1;
    }
    return 0;
}
