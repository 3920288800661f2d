/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi-pingpong - blocking MPI calls outside and inside of OpenMP tasks, between two ranks. An
 * ordinary hybrid program. Rank 0 times and prints; it also decides how often a row is repeated.
 */
#include "harness.h"

#include <mpi.h>

enum { WINDOW = 32, MAX_BYTES = 64 * 1024 };

static int my_rank;

/* One round trip: rank 0 sends first. The stamp shows that the right message came back. */
static void round_trip(unsigned char *buffer, long bytes, int tag, long stamp) {
    const int peer = 1 - my_rank;
    const unsigned char mark = (unsigned char)(stamp % 251 + my_rank * 2);
    if (my_rank == 0) {
        buffer[0] = mark;
        MPI_Send(buffer, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    }
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bench_check(buffer[0] == (unsigned char)(stamp % 251 + peer * 2), "contents of a message");
    if (my_rank == 1) {
        buffer[0] = mark;
        MPI_Send(buffer, (int)bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    }
}

static long outside(long trips, long bytes) {
    static unsigned char buffer[MAX_BYTES];
    for (long i = 0; i < trips; ++i)
        round_trip(buffer, bytes, 0, i);
    return trips;
}

/* Each round trip is a task that depends on the one before: latency. */
static long inside(long trips, long bytes) {
    static unsigned char buffer[MAX_BYTES];
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < trips; ++i) {
#pragma omp task depend(inout : buffer) firstprivate(i, bytes)
        round_trip(buffer, bytes, 0, i);
    }
    return trips;
}

/* Many round trips at once, each a task of its own: rate. Where a blocked task keeps its thread,
 * the ranks must happen to choose the same tasks, or they wait for each other for ever. */
static long window(long windows, long bytes) {
    static unsigned char buffers[WINDOW][MAX_BYTES];
    for (long w = 0; w < windows; ++w) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < WINDOW; ++i) {
#pragma omp task firstprivate(i, bytes)
            round_trip(buffers[i], bytes, i, i);
        }
    }
    return windows * WINDOW;
}

static long agree(long value) {
    MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return value;
}

static const struct bench_row rows[] = {
    {"outside-8B", "trip", "8 bytes, no tasks", 100, 8, outside},
    {"inside-8B", "trip", "8 bytes, in a chain of tasks", 100, 8, inside},
    {"window-8B", "trip", "8 bytes, in 32 independent tasks", 3, 8, window},
    {"outside-64K", "trip", "64 KiB, no tasks", 20, MAX_BYTES, outside},
    {"inside-64K", "trip", "64 KiB, in a chain of tasks", 20, MAX_BYTES, inside},
    {"window-64K", "trip", "64 KiB, in 32 independent tasks", 1, MAX_BYTES, window},
};

int main(int argc, char **argv) {
    struct bench_program program = {.rows = rows, .row_count = BENCH_COUNT(rows)};
    if (argc == 2 && argv[1][0] == '-') /* --list and --info need no MPI */
        return bench_main(argc, argv, &program);
    int provided, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_check(ranks == 2, "mpi-pingpong needs exactly two ranks");
    bench_check(provided == MPI_THREAD_MULTIPLE, "mpi-pingpong needs MPI_THREAD_MULTIPLE");
    program.agree = agree;
    program.reporter = my_rank == 0;
    const int status = bench_main(argc, argv, &program);
    MPI_Finalize();
    return status;
}
