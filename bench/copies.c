/* SPDX-License-Identifier: Apache-2.0
 * Messages between two ranks beside copies of their bytes. usage: copies all | BYTES TRIPS; `all`
 * is the sizes of the IMB ping-pong. Prints for each size the bytes, the nanoseconds of one way of
 * a ping-pong, and of a memcpy of as many bytes by one rank, best of some.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 9, LONGEST = 4 << 20 };

static int rank;
static char *out, *in;

static double round_trips(int bytes, int trips) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
        if (rank == 0)
            MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - begin) / trips / 2;
}

static double copies(int bytes, int trips) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
        memcpy(in, out, (size_t)bytes);
        __asm__ volatile("" : : "r"(in) : "memory");
    }
    return (MPI_Wtime() - begin) / trips;
}

static void measure(int bytes, int trips) {
    double message = 1e9, copy = 1e9;
    for (int repetition = 0; repetition < REPETITIONS; ++repetition) {
        double took = round_trips(bytes, trips);
        message = took < message ? took : message;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            took = copies(bytes, trips);
            copy = took < copy ? took : copy;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d %.0f %.0f\n", bytes, 1e9 * message, 1e9 * copy);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int bytes = argc > 2 ? atoi(argv[1]) : 0, trips = argc > 2 ? atoi(argv[2]) : 0;
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    if (argc < 2 || bytes < 0 || bytes > LONGEST || (argc > 2 && trips < 1) || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, LONGEST);
    memset(in, 2, LONGEST);
    if (trips > 0)
        measure(bytes, trips);
    else
        for (int size = 0; size <= LONGEST; size = size == 0 ? 1 : 2 * size)
            measure(size, size <= 4096 ? 400 : size <= 65536 ? 100 : 20);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
