/* SPDX-License-Identifier: Apache-2.0
 * A stencil on rows that two ranks share, for bench/plugin.py: compiled with the plug-in and
 * without.
 *
 *     halo blocking|by-hand|silent ROWS STEPS
 *
 * Each step exchanges a row with the other rank, computes the rows that do not need it, and then
 * the one that does. `silent` exchanges nothing. Prints the nanoseconds of a step, and a sum of all
 * numbers.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 256 }; /* a row is sent at once by every MPI */

static void row(double *to, const double *from, long i) {
    for (long j = 1; j < COLUMNS - 1; ++j)
        to[i * COLUMNS + j] = 0.25 * (from[(i - 1) * COLUMNS + j] + from[(i + 1) * COLUMNS + j] +
                                      from[i * COLUMNS + j - 1] + from[i * COLUMNS + j + 1]);
}

/* Row 0 is the other rank's row 1. The last row is fixed. */
__attribute__((noinline)) static void blocking(double *to, double *from, long rows, int other) {
    MPI_Send(from + COLUMNS, COLUMNS, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(from, COLUMNS, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 2; i < rows; ++i)
        row(to, from, i);
    row(to, from, 1);
}

__attribute__((noinline)) static void by_hand(double *to, double *from, long rows, int other) {
    MPI_Request requests[2];
    MPI_Isend(from + COLUMNS, COLUMNS, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from, COLUMNS, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
    for (long i = 2; i < rows; ++i)
        row(to, from, i);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    row(to, from, 1);
}

__attribute__((noinline)) static void silent(double *to, double *from, long rows, int other) {
    (void)other;
    for (long i = 2; i < rows; ++i)
        row(to, from, i);
    row(to, from, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *kind = argc == 4 ? argv[1] : "";
    void (*const step)(double *, double *, long, int) = strcmp(kind, "blocking") == 0  ? blocking
                                                        : strcmp(kind, "by-hand") == 0 ? by_hand
                                                        : strcmp(kind, "silent") == 0  ? silent
                                                                                       : NULL;
    if (!step || atol(argv[2]) < 3 || atol(argv[3]) < 1) {
        fputs("usage: halo blocking|by-hand|silent ROWS STEPS\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    const long rows = atol(argv[2]), steps = atol(argv[3]), cells = (rows + 1) * COLUMNS;
    double *from = malloc((size_t)cells * sizeof *from), *to = malloc((size_t)cells * sizeof *to);
    for (long i = 0; i < cells; ++i)
        from[i] = to[i] = (double)(i % 97 + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long t = 0; t < steps; ++t) {
        step(to, from, rows, 1 - rank);
        double *last = from;
        from = to;
        to = last;
    }
    double took = (MPI_Wtime() - start) / (double)steps, longest, sum = 0, total;
    for (long i = 0; i < cells; ++i)
        sum += from[i];
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f %.17g\n", 1e9 * longest, total);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
