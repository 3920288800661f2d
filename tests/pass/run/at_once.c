/* SPDX-License-Identifier: Apache-2.0
 * Tasks that complete before their creator goes on: if(0), final, mergeable; and taskwait, taskgroup
 * and a taskloop, which wait for what is bound to tasks. A message that a final task's child receives
 * is asked for just before.
 */
// stock
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 100, LOOP = 8, LATE = 20 };
static int places[4], loop[LOOP];

static void send(int round) {
    int value = round;
    int *here = &value;
#pragma omp task if (0) firstprivate(here)
    MPI_Ssend(here, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    value = -1;
#pragma omp task final(1) firstprivate(here)
    {
#pragma omp task firstprivate(here)
        MPI_Ssend(here, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        *here = -2;
    }
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task firstprivate(here)
        MPI_Ssend(here, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    }
    for (int i = 0; i < LOOP; ++i)
        loop[i] = round + i;
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < LOOP; ++i)
        MPI_Ssend(&loop[i], 1, MPI_INT, 1, 3 + i, MPI_COMM_WORLD);
    for (int i = 0; i < LOOP; ++i)
        loop[i] = -3;
}

/* The one that is asked for. */
static void send_late(int round) {
    int asked = -1;
    MPI_Recv(&asked, 1, MPI_INT, 1, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (asked != round)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Send(&asked, 1, MPI_INT, 1, LATE, MPI_COMM_WORLD);
}

static void receive_in_task(int form, int *here) {
    if (form == 0) {
#pragma omp task firstprivate(here)
        MPI_Recv(here, 1, MPI_INT, 0, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (form == 1) {
#pragma omp task firstprivate(here)
        {
            MPI_Request request;
            MPI_Irecv(here, 1, MPI_INT, 0, LATE, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } else if (form == 2) {
#pragma omp task mergeable firstprivate(here)
        {
#pragma omp task if (1) firstprivate(here)
            MPI_Recv(here, 1, MPI_INT, 0, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else {
#pragma omp taskloop nogroup if (form == 3) firstprivate(here)
        for (int i = 0; i < 1; ++i)
            MPI_Recv(&here[i], 1, MPI_INT, 0, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A final task, whose tasks are all included, and is right behind them. */
static int receive_late(int round) {
    int bad = 0, value = -5, *here = &value;
#pragma omp task final(1) firstprivate(here) shared(bad)
    {
        MPI_Send(&round, 1, MPI_INT, 0, LATE, MPI_COMM_WORLD);
        receive_in_task(round % 5, here);
        bad += *here != round;
    }
#pragma omp taskwait
    return bad;
}

static int receive(int round) {
    int bad = 0;
    int *here = &places[round % 4];
    *here = -5;
#pragma omp task if (0) firstprivate(here)
    MPI_Recv(here, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bad += *here != round;
#pragma omp task mergeable firstprivate(here)
    MPI_Recv(here, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp taskwait
    bad += *here != -1;
#pragma omp taskgroup
    {
#pragma omp task firstprivate(here)
        MPI_Recv(here, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    bad += *here != -2;
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < LOOP; ++i)
        MPI_Recv(&loop[i], 1, MPI_INT, 0, 3 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < LOOP; ++i)
        bad += loop[i] != round + i;
    return bad;
}

int main(int argc, char **argv) {
    int provided, rank, bad = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int round = 0; round < ROUNDS; ++round)
        if (rank == 0) {
            send(round);
            send_late(round);
        } else if (rank == 1) {
            bad += receive(round);
            bad += receive_late(round);
        }
    if (bad)
        fprintf(stderr, "rank %d: %d values are wrong\n", rank, bad);
    MPI_Finalize();
    return bad != 0;
}
