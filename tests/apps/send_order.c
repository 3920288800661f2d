/* SPDX-License-Identifier: Apache-2.0
 * order: policy=sa|fa -- must-overtake # long sends leave in the order of their tasks, whatever
 *     else is on the card
 * order: policy=fifo
 *
 * Long sends leave in the order of their tasks. Rank 0's first send is created first, but something
 * has to be computed before; the others fill the card meanwhile. With an argument: it must overtake
 * the last of them; without: as it comes. Where rank 0 has no processor for a while, the card has
 * sent all others before the first one is known. So one round of several is enough: without the
 * order it would be the last one in all of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { messages = 8, length = 1 << 14, rounds = 20 };

static double data[messages][length];

static void send_all(void) {
    char computed = 0;
    (void)computed;
#pragma omp task depend(out : computed) shared(computed)
    computed = 1;
#pragma omp task depend(in : computed) priority(1)
    MPI_Send(data[0], length, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    for (int i = 1; i < messages; ++i) {
#pragma omp task depend(in : data[i][0]) firstprivate(i) priority(1)
        MPI_Send(data[i], length, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
    }
#pragma omp taskwait
}

/* The place of the first task's message. */
static int receive_all(void) {
    int place = -1;
    for (int i = 0; i < messages; ++i) {
        MPI_Status status;
        MPI_Recv(data[0], length, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 0)
            place = i;
    }
    printf("the first task's message was number %d\n", place + 1);
    return place;
}

int main(int argc, char **argv) {
    int provided = 0, rank = 0, place = -1, again = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds && again; ++round) {
        if (rank == 0) {
#pragma omp parallel
#pragma omp single
            send_all();
        } else {
            place = receive_all();
        }
        again = argc > 1 && place == messages - 1;
        MPI_Bcast(&again, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return again || (rank == 1 && place < 0);
}
