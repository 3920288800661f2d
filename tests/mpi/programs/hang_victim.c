/* SPDX-License-Identifier: Apache-2.0
 * build_once: sources=hang_victim.c|hang_victim_slow.c -g -fopenmp -I{include} -- {library}
 * Jobs of two ranks that hang, and, in hang_victim_slow.c, jobs that only look like it:
 * hang_victim <case>. Run by hang.py.
 */
#define _GNU_SOURCE /* syscall */
#include "hang_victim.h"
#include "TAMPI.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <mpix_detach.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int rank;
const char *program;
int value;

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

/* A task holds a mutex and waits for the answer to a message that another one is to send, which
 * waits for the mutex: suspended, or its thread sleeps in libc. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int locked;
__attribute__((noinline)) static void receive_locked(void) {
    pthread_mutex_lock(&mutex);
    locked = 1;
    receive(23);
    pthread_mutex_unlock(&mutex);
    ++value;
}
__attribute__((noinline)) static void send_locked(void) {
    while (!locked) {
#pragma omp taskyield
    }
    pthread_mutex_lock(&mutex);
    send(22);
    pthread_mutex_unlock(&mutex);
    ++value;
}
static void answer(void) {
    receive(22);
    send(23);
}
static void locked_receive(void) {
    if (rank == 1) {
        answer();
        return;
    }
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        receive_locked();
#pragma omp task
        send_locked();
    }
}
static void locked_threads(void) {
    if (rank == 1) {
        answer();
        return;
    }
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        receive_locked();
    else
        send_locked();
}

/* The same, but the sender sleeps in a system call until another task wakes it. libc's own
 * syscall(), not the one that Sennit stands in front of. */
static volatile int asleep = 1;
__attribute__((noinline)) static void send_woken(void) {
    long (*call)(long, ...) = (long (*)(long, ...))dlsym(dlopen("libc.so.6", RTLD_NOW), "syscall");
    while (asleep)
        call(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    send(22);
    ++value;
}
static void asleep_threads(void) {
    if (rank == 1) {
        answer();
        return;
    }
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        receive(23);
        asleep = 0;
        syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    } else {
        send_woken();
    }
}

/* A barrier that one rank does not call. */
static void missing_barrier(void) {
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Different collective calls on one communicator, the second ones of both ranks. */
static void mixed_up(void) {
    static double many[1000000];
    MPI_Comm pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    MPI_Barrier(pair);
    if (rank == 0) {
        MPI_Bcast(many, 1000000, MPI_DOUBLE, 1, pair);
        MPI_Barrier(pair);
    } else {
        MPI_Barrier(pair);
        MPI_Bcast(many, 1000000, MPI_DOUBLE, 1, pair);
    }
    MPI_Comm_free(&pair);
}

/* A collective call that one rank makes in a task and the other one outside of any. */
static void inside_and_outside(void) {
    int sum = 0;
    if (rank == 1)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
#pragma omp parallel
#pragma omp single
#pragma omp task
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Each rank takes the other one for the root. */
static void two_roots(void) {
    MPI_Bcast(&value, 1, MPI_INT, 1 - rank, MPI_COMM_WORLD);
}

/* A receive from anybody, while the other rank sends nothing more. */
static void nobody_sends(void) {
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What is begun is waited for only after another call that blocks, and nobody receives it. */
static void begun_in_vain(void) {
    MPI_Request request;
    MPI_Issend(&rank, 1, MPI_INT, 1 - rank, 57, MPI_COMM_WORLD, &request);
    receive(58);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Both receive what has been sent, and received, before: by requests whose places MPI uses again.
 */
static void all_is_over(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index, over = 0;
    for (int lap = 0; lap < 4; ++lap) {
        MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 59, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(&rank, 1, MPI_INT, 1 - rank, 59, MPI_COMM_WORLD, &requests[1]);
        if (lap == 0) {
            MPI_Waitall(2, requests, statuses);
        } else if (lap == 1) {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            while (!over)
                MPI_Test(&requests[1], &over, MPI_STATUS_IGNORE);
        } else if (lap == 2) {
            for (int i = 0; i < 2; ++i)
                MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        } else {
#pragma omp parallel
#pragma omp single
#pragma omp task
            TAMPI_Iwaitall(2, requests, statuses);
        }
    }
    receive(59);
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

/* Both wait for a request, outside of tasks, on a communicator with a name, after what has used the
 * request's place before: the messages of lap 0 come. */
static void both_wait(void) {
    MPI_Comm named;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "halo");
    for (int lap = 0; lap < 2; ++lap) {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 20 + lap, named, &request);
        if (lap == 0)
            MPI_Send(&lap, 1, MPI_INT, 1 - rank, 20, named);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Both wait for four requests, two of them complete, the last one for a tag that nobody receives.
 */
static void exchange(int expected) {
    int in[2], out = rank;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Irecv(&in[0], 1, MPI_INT, 1 - rank, 30, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 1 - rank, expected, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, 30, MPI_COMM_WORLD, &requests[2]);
    MPI_Issend(&out, 1, MPI_INT, 1 - rank, 31, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}
static void wrong_tag(void) {
    exchange(32);
}
static void wrong_tag_in_task(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    exchange(32);
}

/* What it receives has come, what it sends is not received. */
static void half_exchange(void) {
    static double many[1000000];
    if (rank == 0) {
        MPI_Sendrecv(many, 1000000, MPI_DOUBLE, 1, 12, &value, 1, MPI_INT, 1, 13, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        send(13);
        receive(14);
    }
}

#if MPI_VERSION >= 4
/* The same tag is not expected. */
static void started_exchange(void) {
    MPI_Request request;
    MPI_Isendrecv(&rank, 1, MPI_INT, 1 - rank, 15 + rank, &value, 1, MPI_INT, 1 - rank, 15 + rank,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One of two partitions is not ready. */
static void not_ready(void) {
    int parts[2] = {0};
    first_part_ready(parts, 2, MPI_INT, 17);
}
#endif

/* Both wait for each other in callbacks. */
static void receive_first(void) {
    receive(9);
    send(9);
}
static void stuck_callbacks(void) {
    wait_calling(NULL);
    wait_calling(receive_first);
}

/* Both wait for each other in callbacks that nobody waits for but MPI_Finalize. */
static void receive_ten(void *unused) {
    (void)unused;
    receive(10);
}
static void left_callbacks(void) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 11, MPI_COMM_WORLD, &request);
    MPIX_Detach(&request, receive_ten, NULL);
    const int sent = 0;
    MPI_Send(&sent, 1, MPI_INT, 1 - rank, 11, MPI_COMM_WORLD);
}

/* The same, and the operation is complete while the initial thread computes: the ticker finds it.
 */
static void ticked_callbacks(void) {
    left_callbacks();
    compute(0.5);
}

static const struct hang_case hung_cases[] = {
    {"both_receive", both_receive},
    {"both_send", both_send},
    {"never_sent", never_sent},
    {"locked_receive", locked_receive},
    {"locked_threads", locked_threads},
    {"asleep_threads", asleep_threads},
    {"missing_barrier", missing_barrier},
    {"mixed_up", mixed_up},
    {"inside_and_outside", inside_and_outside},
    {"two_roots", two_roots},
    {"nobody_sends", nobody_sends},
    {"begun_in_vain", begun_in_vain},
    {"all_is_over", all_is_over},
    {"bound_task", bound_task},
    {"both_wait", both_wait},
    {"wrong_tag", wrong_tag},
    {"wrong_tag_in_task", wrong_tag_in_task},
    {"half_exchange", half_exchange},
#if MPI_VERSION >= 4
    {"started_exchange", started_exchange},
    {"not_ready", not_ready},
#endif
    {"stuck_callbacks", stuck_callbacks},
    {"left_callbacks", left_callbacks},
    {"ticked_callbacks", ticked_callbacks},
    {NULL, NULL},
};

static const struct hang_case *find(const struct hang_case *cases, const char *name) {
    while (cases->name && strcmp(cases->name, name) != 0)
        ++cases;
    return cases->name ? cases : NULL;
}

int main(int count, char **arguments) {
    const char *const name = count == 2 ? arguments[1] : "";
    program = arguments[0];
    if (strcmp(name, "openmp_first") == 0)
        omp_get_max_threads();
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct hang_case *found = find(hung_cases, name);
    if (!found)
        found = find(slow_cases, name);
    if (found)
        found->run();
    else
        fprintf(stderr, "usage: hang_victim CASE\n");
    MPI_Finalize();
    return found ? 0 : 2;
}
