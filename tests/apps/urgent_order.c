/* SPDX-License-Identifier: Apache-2.0
 * order: policy=global -- must-overtake # what the receiver needs most leaves first
 * order: policy=fa
 * order: apps.urgent_order.global.doorbells.{mpi} policy=global SENNIT_DOORBELLS=on --
 *     must-overtake # among ranks that ring each other there are tasks before MPI_Init returns:
 *     each rank is to take part
 *
 * Policy global: what the receiver needs most leaves first. Rank 0 sends messages whose tasks are
 * all alike. On rank 1 nothing follows any of them but the last one, which leads to a send of its
 * own. With an argument: that one must not come last; without: as it comes. Where rank 1 has no
 * processor for a while, all have left before rank 0 hears what is needed. So a few of many rounds
 * are enough: who does not hear of it sends that message last in all of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { messages = 8, length = 1 << 14, urgent = messages - 1, rounds = 20, few = 3 };

static double data[messages][length];
static double answer;

static void send_all(void) {
    for (int i = 0; i < messages; ++i) {
#pragma omp task depend(in : data[i][0]) firstprivate(i)
        MPI_Send(data[i], length, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
    }
#pragma omp task depend(out : answer)
    MPI_Recv(&answer, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp taskwait
}

/* Returns how many messages came before the urgent one. */
static int receive_all(void) {
    int come = 0, place = -1;
    for (int i = 0; i < messages; ++i) {
#pragma omp task depend(out : data[i][0]) firstprivate(i) shared(come, place)
        {
            MPI_Recv(data[i], length, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (i == urgent)
                place = come;
            ++come; /* one thread */
        }
    }
#pragma omp task depend(in : data[urgent][0]) depend(out : answer)
    answer = data[urgent][0] + 1;
#pragma omp task depend(in : answer)
    MPI_Send(&answer, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
#pragma omp taskwait
    return place;
}

int main(int argc, char **argv) {
    int provided = 0, rank = 0, place = 0, early = 0, again = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds && again; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel
#pragma omp single
        {
            if (rank == 0)
                send_all();
            else
                place = receive_all();
        }
        early += round > 0 && place < urgent; /* in the first one the tasks are not known yet */
        again = round == 0 || (argc > 1 && early < few);
        MPI_Bcast(&again, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    if (rank == 1)
        printf("the urgent message was number %d, and early %d times\n", place + 1, early);
    else if (answer != 1)
        printf("the answer is %g\n", answer);
    MPI_Finalize();
    return again || (rank == 0 ? answer != 1 : place < 0);
}
