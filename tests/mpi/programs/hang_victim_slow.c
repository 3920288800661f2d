/* SPDX-License-Identifier: Apache-2.0
 * part:
 * Jobs of two ranks that look as if they hang and only take long. See hang_victim.c.
 */
#include "hang_victim.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40200000
enum { LONG = 500 }; /* some seconds: it takes ten times as long as version 4.0 */
#else
enum { LONG = 5000 };
#endif

/* What takes some seconds to send: bytes with gaps, from and into one place. */
static char place[1 << 16];
static MPI_Datatype slow_type(void) {
    MPI_Datatype row, all;
    MPI_Type_vector(1 << 14, 1, 2, MPI_BYTE, &row);
    MPI_Type_create_hvector(LONG, 1, 0, row, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&row);
    return all;
}
static void one_long_message(void) {
    MPI_Datatype slow = slow_type();
    if (rank == 0)
        MPI_Send(place, 1, slow, 1, 50, MPI_COMM_WORLD);
    else
        MPI_Recv(place, 1, slow, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&slow);
}
static void long_message(void) {
    one_long_message();
}
static void long_message_in_task(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    one_long_message();
}
static void long_exchange(void) {
    static char into[1 << 16];
    MPI_Datatype slow = slow_type();
    MPI_Sendrecv(place, 1, slow, 1 - rank, 51, into, 1, slow, 1 - rank, 51, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&slow);
}
static void long_waits(void) {
    static char into[1 << 16];
    MPI_Datatype slow = slow_type();
    MPI_Request requests[2];
    MPI_Irecv(into, 1, slow, 1 - rank, 52, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(place, 1, slow, 1 - rank, 52, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    MPI_Type_free(&slow);
}
/* What is begun is waited for only after another call that blocks, and the message is long. */
static void late_wait(void) {
    MPI_Datatype slow = slow_type();
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(place, 1, slow, 1, 53, MPI_COMM_WORLD, &request);
        receive(54);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(place, 1, slow, 0, 53, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(54);
    }
    MPI_Type_free(&slow);
}
static void late_wait_in_task(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    late_wait();
}
static void late_receive(void) {
    MPI_Datatype slow = slow_type();
    if (rank == 0) {
        MPI_Request request;
        MPI_Irecv(place, 1, slow, 1, 55, MPI_COMM_WORLD, &request);
        receive(56);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(place, 1, slow, 0, 55, MPI_COMM_WORLD);
        send(56);
    }
    MPI_Type_free(&slow);
}

static void long_collective(void) {
    MPI_Datatype slow = slow_type();
    MPI_Bcast(place, 1, slow, 0, MPI_COMM_WORLD);
    MPI_Type_free(&slow);
}

#if MPI_VERSION >= 4
/* All partitions are ready, and what they send takes long. */
static void long_partitions(void) {
    MPI_Datatype slow = slow_type();
    first_part_ready(place, 1, slow, 16);
    MPI_Type_free(&slow);
}
#endif

/* Has hang.py made the file that this variable names? */
static int is_told(const char *variable) {
    return access(getenv(variable), F_OK) == 0;
}
static const char go_on[] = "HANG_VICTIM_GO_ON", end[] = "HANG_VICTIM_END";

/* A thread that sleeps until it is told completes what both wait for. */
static int nothing_known(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int nothing_held(void *state) {
    (void)state;
    return MPI_SUCCESS;
}
static int not_cancelled(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}
static void *complete_late(void *request) {
    while (!is_told(go_on))
        sleep(1);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}
static void slow_thread(void) {
    MPI_Request request;
    MPI_Grequest_start(nothing_known, nothing_held, not_cancelled, NULL, &request);
    MPI_Request completed = request;
    pthread_t thread;
    pthread_create(&thread, NULL, complete_late, &completed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* OpenMP is used before MPI_Init. Then both wait, for less than the grace time, for a message of a
 * thread that sleeps. */
static void *send_late(void *unused) {
    sleep(4);
    send(18);
    return unused;
}
static void openmp_first(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_late, NULL);
    receive(18);
    pthread_join(thread, NULL);
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

/* No scheduling point is on the way. */
static void compute_until_told(const char *variable) {
    while (!is_told(variable))
        ;
}

/* The one that is to send is stopped until hang.py lets it go on. */
static void stopped_sender(void) {
    if (rank == 1) {
        raise(SIGSTOP);
        send(1);
    } else {
        receive(1);
    }
    compute_until_told(end); /* it goes on, and is seen to do so */
}

/* One rank computes, the other waits for it. */
static void told_sender(void) {
    if (rank == 1) {
        compute_until_told(go_on);
        send(1);
    } else {
        receive(1);
    }
    compute_until_told(end);
}

/* Whoever shares cores with it wants them back in vain. */
static void keeps_cores(void) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
        puts("keeps"), fflush(stdout);
        compute_until_told(go_on);
    }
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

/* One rank computes for long in a callback. */
static void compute_for_long(void) {
    compute(3);
}
static void slow_callback(void) {
    if (rank == 1) {
        wait_calling(NULL);
        wait_calling(compute_for_long);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank is for long in the error handler of a call that no rank can answer. */
static void handle_for_long(MPI_Comm *communicator, int *error, ...) {
    (void)communicator, (void)error;
    sleep(3);
}
static void slow_handler(void) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 1) {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(handle_for_long, &handler);
        MPI_Comm_set_errhandler(copy, handler);
        MPI_Errhandler_free(&handler);
        MPI_Recv(&value, 1, MPI_INT, 99, 1, copy, MPI_STATUS_IGNORE);
        send(1);
    } else {
        receive(1);
    }
    MPI_Comm_free(&copy);
}

/* Both wait for a process that they have made and that computes for long. */
static void slow_child(void) {
    MPI_Comm parent, child;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        compute(5);
        for (int i = 0; i < 2; ++i)
            MPI_Send(&i, 1, MPI_INT, i, 4, parent);
        MPI_Comm_disconnect(&parent);
        return;
    }
    char *words[] = {"slow_child", NULL};
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
#pragma omp parallel
#pragma omp single
#pragma omp task
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&child);
}

const struct hang_case slow_cases[] = {
    {"long_message", long_message},
    {"long_message_in_task", long_message_in_task},
    {"long_exchange", long_exchange},
    {"long_waits", long_waits},
    {"late_wait", late_wait},
    {"late_wait_in_task", late_wait_in_task},
    {"late_receive", late_receive},
    {"long_collective", long_collective},
#if MPI_VERSION >= 4
    {"long_partitions", long_partitions},
#endif
    {"slow_thread", slow_thread},
    {"openmp_first", openmp_first},
    {"slow_sender", slow_sender},
    {"slow_task", slow_task},
    {"stopped_sender", stopped_sender},
    {"told_sender", told_sender},
    {"keeps_cores", keeps_cores},
    {"slow_callback", slow_callback},
    {"slow_handler", slow_handler},
    {"slow_child", slow_child},
    {NULL, NULL},
};
