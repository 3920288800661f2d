/* SPDX-License-Identifier: Apache-2.0
 * A long message between two ranks beside a copy of its bytes. usage: copies BYTES; prints the
 * nanoseconds of one way of a ping-pong, and of a memcpy of as many bytes by one rank, best of
 * some.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 9, TRIPS = 50 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = argc > 1 ? atoi(argv[1]) : 0;
    char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
    if (bytes <= 0 || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, (size_t)bytes);
    memset(in, 2, (size_t)bytes);
    double message = 1e9, copy = 1e9;
    for (int repetition = 0; repetition < REPETITIONS; ++repetition) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int i = 0; i < TRIPS; ++i) {
            if (rank == 0)
                MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        double took = (MPI_Wtime() - begin) / TRIPS / 2;
        message = took < message ? took : message;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            begin = MPI_Wtime();
            for (int i = 0; i < TRIPS; ++i) {
                memcpy(in, out, (size_t)bytes);
                __asm__ volatile("" : : "r"(in) : "memory");
            }
            took = (MPI_Wtime() - begin) / TRIPS;
            copy = took < copy ? took : copy;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.0f %.0f\n", 1e9 * message, 1e9 * copy);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
