/* SPDX-License-Identifier: Apache-2.0
 * By the plug-in's marks the policy fa knows which task sends, before one has run: the path to the
 * send goes first. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int without, with, order[4], ran, message = 7, other;

__attribute__((noinline)) static void note(int which) { order[ran++] = which; }

static void create(void) {
#pragma omp task depend(inout : without)
    note(1);
#pragma omp task depend(inout : without)
    note(2);
#pragma omp task depend(inout : with)
    note(3);
#pragma omp task depend(inout : with)
    {
        note(4);
        MPI_Send(&message, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    }
#pragma omp taskwait
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, received;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
#pragma omp parallel num_threads(1)
    create();
    MPI_Recv(&received, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int wanted[] = {3, 4, 1, 2};
    if (received != 7 || memcmp(order, wanted, sizeof order) != 0) {
        printf("%d; %d %d %d %d\n", received, order[0], order[1], order[2], order[3]);
        return 3;
    }
    MPI_Finalize();
    return 0;
}
