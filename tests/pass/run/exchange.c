/* SPDX-License-Identifier: Apache-2.0
 * MPI_Sendrecv as a window. Nothing moves before it is waited for. */
// stock
#include "lazy.h"
#include <stdio.h>

enum { N = 64 };
static double ghost[N], out[N], field[N], next[N];
static int rank, failures;

static void check(int ok, const char *what) {
    if (!ok) {
        ++failures;
        fprintf(stderr, "rank %d, wrong: %s\n", rank, what);
    }
}

__attribute__((noinline)) static double crossed(int *under_way) {
    double sum = 0;
    MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 0, ghost, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i < N - 1; ++i)
        next[i] = field[i - 1] + field[i + 1] + out[i];
    *under_way = lazy_count;
    for (int i = 0; i < N; ++i)
        sum += ghost[i];
    return sum;
}

/* The message is what `out` was, and what was in `ghost` is gone. */
__attribute__((noinline)) static int kept(double *to, double *from, double *touched) {
    MPI_Status status;
    MPI_Sendrecv(from, N, MPI_DOUBLE, 1 - rank, 1, to, N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    for (int i = 0; i < N; ++i)
        touched[i] += 1;
    return status.MPI_TAG;
}

/* More than are under way at a time. */
__attribute__((noinline)) static void many(void) {
    for (int i = 0; i < 31; ++i)
        MPI_Send(&field[i], 1, MPI_DOUBLE, 1 - rank, 2 + i, MPI_COMM_WORLD);
    MPI_Sendrecv(out, N, MPI_DOUBLE, 1 - rank, 40, ghost, N, MPI_DOUBLE, 1 - rank, 40, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 31; ++i)
        MPI_Recv(&next[i], 1, MPI_DOUBLE, 1 - rank, 2 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int under_way = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; ++i) {
        out[i] = rank + i;
        field[i] = 10 * rank + i;
    }
    check(crossed(&under_way) == N * (1 - rank) + N * (N - 1) / 2, "what came");
    check(under_way == 2, "both were under way");
    check(kept(ghost, out, out) == 1, "the status");
    check(ghost[5] == 6 - rank && out[5] == rank + 6, "the message was what had been there");
    kept(ghost, out, ghost);
    check(ghost[5] == 8 - rank, "what came was counted up");
    many();
    check(ghost[5] == 7 - rank && next[5] == 10 * (1 - rank) + 5, "many");
    MPI_Finalize();
    return failures != 0;
}
