/* SPDX-License-Identifier: Apache-2.0
 * A ping-pong of two ranks as IMB-MPI1 PingPong has it: 0 bytes, then all powers of two up to 4
 * MiB; at most 1000 repetitions and 40 MiB of a size; before them two barriers and a tenth as many
 * repetitions that nobody times; half a round trip is the time. Its table has IMB's columns.
 *
 * usage: message-sizes [MOST]: at most so many repetitions
 *
 * Every round trip carries the number of the repetition, which the other side checks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPETITIONS = 1000,
    VOLUME = 40 << 20,
    LONGEST = 4 << 20,
    BARRIERS = 2,
    WARM_UP_PERCENT = 10
};

static int rank;
static unsigned char *out, *in;

static void check(int bytes, int repetition) {
    if (bytes > 0 &&
        (in[0] != (unsigned char)repetition || in[bytes - 1] != (unsigned char)repetition)) {
        fprintf(stderr, "message-sizes: the wrong bytes came, of %d in repetition %d\n", bytes,
                repetition);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void mark(int bytes, int repetition) {
    if (bytes > 0)
        out[0] = out[bytes - 1] = (unsigned char)repetition;
}

/* Seconds of a round trip. */
static double round_trip(int bytes, int repetitions) {
    for (int i = 0; i < BARRIERS; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; ++i) {
        mark(bytes, i);
        if (rank == 0)
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, !rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(bytes, i);
        if (rank == 1)
            MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - begin) / repetitions;
}

static void measure(int bytes, int most) {
    int repetitions = bytes > 0 && VOLUME / bytes < most ? VOLUME / bytes : most;
    const int warm_up = repetitions * WARM_UP_PERCENT / 100;
    round_trip(bytes, warm_up > 0 ? warm_up : 1);
    const double microseconds = round_trip(bytes, repetitions) / 2 * 1e6;
    if (rank == 0)
        printf("%12d %12d %12.2f %12.2f\n", bytes, repetitions, microseconds, bytes / microseconds);
}

int main(int argc, char **argv) {
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int most = argc > 1 ? atoi(argv[1]) : REPETITIONS;
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    if (ranks != 2 || most < 1 || !out || !in) {
        fprintf(stderr, "usage: message-sizes [MOST], on two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(out, 1, LONGEST);
    memset(in, 2, LONGEST);
    if (rank == 0)
        printf("       #bytes #repetitions      t[usec]   Mbytes/sec\n");
    measure(0, most);
    for (int bytes = 1; bytes <= LONGEST; bytes *= 2)
        measure(bytes, most);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
