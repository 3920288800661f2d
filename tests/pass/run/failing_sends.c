/* SPDX-License-Identifier: Apache-2.0
 * Some of the sends that are started together fail, and the program has chosen not to look: the
 * others arrive. */
// stock
#include <mpi.h>
#include <stdio.h>

enum { SENDS = 40 };
static int numbers[SENDS];

__attribute__((noinline)) static void send_all(const int *ranks, int count) {
    for (int i = 0; i < count; ++i)
        MPI_Send(&numbers[i], 1, MPI_INT, ranks[i], i, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void send_three(int good, int bad) {
    MPI_Send(&numbers[1], 1, MPI_INT, good, 101, MPI_COMM_WORLD);
    MPI_Send(&numbers[2], 1, MPI_INT, bad, 102, MPI_COMM_WORLD);
    MPI_Send(&numbers[3], 1, MPI_INT, good, 103, MPI_COMM_WORLD);
}

/* What a request is in that nobody writes. */
__attribute__((noinline)) static void dirty_stack(void) {
    volatile unsigned char below[4096];
    for (unsigned i = 0; i < sizeof below; ++i)
        below[i] = 0x5a;
}

int main(int argc, char **argv) {
    int rank, ranks[SENDS], bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < SENDS; ++i) {
        numbers[i] = 7 * i;
        ranks[i] = i % 3 == 1 ? 99 : 1; /* there is no rank 99 */
    }
    if (rank == 0) {
        dirty_stack();
        send_all(ranks, SENDS);
        dirty_stack();
        send_three(1, 99);
    } else {
        for (int i = 0; i < SENDS; ++i) {
            int got = 7 * i;
            if (i % 3 != 1)
                MPI_Recv(&got, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            bad += got != 7 * i;
        }
        int got[2];
        MPI_Recv(&got[0], 1, MPI_INT, 0, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&got[1], 1, MPI_INT, 0, 103, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bad += got[0] != 7 || got[1] != 21;
    }
    if (bad)
        fprintf(stderr, "rank %d: %d numbers are wrong\n", rank, bad);
    MPI_Finalize();
    return bad != 0;
}
