/* SPDX-License-Identifier: Apache-2.0
 * Jobs of two ranks that hang, and jobs that only look like it: hang_victim <case>. Run by hang.py.
 */
#include "TAMPI.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;
static int value;

static void receive(int tag) {
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void send(int tag) {
    MPI_Ssend(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
}
static void compute(double seconds) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

/* Both receive first, outside of tasks. */
static void both_receive(void) {
    receive(7);
    send(7);
}

/* Both send first, synchronously, from tasks. */
static void both_send(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    {
        send(8);
        receive(8);
    }
}

/* A receive for which nothing is sent. */
static void never_sent(void) {
    if (rank == 0)
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        receive(5);
#pragma omp taskwait
    }
}

/* A barrier that one rank does not call. */
static void missing_barrier(void) {
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* A task has ended and is bound to a message that does not come. */
static void bound_task(void) {
    if (rank == 0)
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : value)
        {
            MPI_Request request;
            MPI_Irecv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
            TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
        }
#pragma omp task depend(in : value)
        printf("%d\n", value);
    }
}

/* One rank computes for long, the other waits in a task. */
static void slow_sender(void) {
    if (rank == 1) {
        compute(3);
        send(1);
        return;
    }
#pragma omp parallel
#pragma omp single
#pragma omp task
    receive(1);
}

/* One rank's task computes for long while its initial thread is in a call, as the other rank is. */
static void slow_task(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        if (rank == 1)
            compute(3);
#pragma omp taskwait
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"both_receive", both_receive}, {"both_send", both_send},
                 {"never_sent", never_sent},     {"missing_barrier", missing_barrier},
                 {"bound_task", bound_task},     {"slow_sender", slow_sender},
                 {"slow_task", slow_task}};
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int found = 0;
    for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; ++i)
        if (strcmp(arguments[1], cases[i].name) == 0) {
            found = 1;
            cases[i].run();
        }
    if (!found)
        fprintf(stderr, "usage: hang_victim CASE\n");
    MPI_Finalize();
    return found ? 0 : 2;
}
