/* SPDX-License-Identifier: Apache-2.0
 * Jobs of two ranks that hang, and jobs that only look like it: hang_victim <case>. Run by hang.py.
 */
#define _GNU_SOURCE /* syscall */
#include "TAMPI.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <mpi.h>
#include <mpix_continue.h>
#include <mpix_detach.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONG = 5000 }; /* some seconds */
static int rank;
static const char *program;
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

/* The same, but nobody receives it. */
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

static void long_collective(void) {
    MPI_Datatype slow = slow_type();
    MPI_Bcast(place, 1, slow, 0, MPI_COMM_WORLD);
    MPI_Type_free(&slow);
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

/* To rank 0, of rank 1's partitions only the first is ready. */
static void first_part_ready(void *memory, int parts, MPI_Datatype type, int tag) {
    MPI_Request request;
    if (rank == 0)
        MPI_Precv_init(memory, parts, 1, type, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Psend_init(memory, parts, 1, type, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 1)
        MPI_Pready(0, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* All are ready, and what they send takes long. */
static void long_partitions(void) {
    MPI_Datatype slow = slow_type();
    first_part_ready(place, 1, slow, 16);
    MPI_Type_free(&slow);
}

/* One of two partitions is not ready. */
static void not_ready(void) {
    int parts[2] = {0};
    first_part_ready(parts, 2, MPI_INT, 17);
}
#endif

/* A thread that sleeps for long completes what both wait for. */
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
    sleep(4);
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

/* The one that is to send is stopped until hang.py lets it go on. */
static void stopped_sender(void) {
    if (rank == 1) {
        raise(SIGSTOP);
        send(1);
    } else {
        receive(1);
    }
    compute(2); /* it goes on, and is seen to do so */
}

/* Until hang.py makes a file. No scheduling point is on the way. */
static void compute_until_told(void) {
    while (access(getenv("HANG_VICTIM_GO_ON"), F_OK) != 0)
        ;
}

/* One rank computes, the other waits for it. */
static void told_sender(void) {
    if (rank == 1) {
        compute_until_told();
        send(1);
    } else {
        receive(1);
    }
    compute(2); /* it goes on, and is seen to do so */
}

/* Whoever shares cores with it wants them back in vain. */
static void keeps_cores(void) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
        puts("keeps"), fflush(stdout);
        compute_until_told();
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

/* A callback that has returned at once before, so that the waiting thread calls it. */
static int call(int error, void *action) {
    if (action)
        ((void (*)(void))action)();
    return error;
}
static void wait_calling(void (*action)(void)) {
    MPI_Request calls, nothing = MPI_REQUEST_NULL;
    MPIX_Continue_init(MPIX_CONT_POLL_ONLY, 0, MPI_INFO_NULL, &calls);
    MPI_Start(&calls);
    MPIX_Continue(&nothing, call, (void *)action, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE,
                  calls);
    MPI_Wait(&calls, MPI_STATUS_IGNORE);
    MPI_Request_free(&calls);
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

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"both_receive", both_receive},
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
                 {"long_message", long_message},
                 {"long_message_in_task", long_message_in_task},
                 {"long_exchange", long_exchange},
                 {"long_waits", long_waits},
                 {"late_wait", late_wait},
                 {"late_wait_in_task", late_wait_in_task},
                 {"late_receive", late_receive},
                 {"begun_in_vain", begun_in_vain},
                 {"all_is_over", all_is_over},
                 {"long_collective", long_collective},
                 {"bound_task", bound_task},
                 {"both_wait", both_wait},
                 {"wrong_tag", wrong_tag},
                 {"wrong_tag_in_task", wrong_tag_in_task},
                 {"half_exchange", half_exchange},
#if MPI_VERSION >= 4
                 {"started_exchange", started_exchange},
                 {"long_partitions", long_partitions},
                 {"not_ready", not_ready},
#endif
                 {"slow_thread", slow_thread},
                 {"openmp_first", openmp_first},
                 {"slow_sender", slow_sender},
                 {"slow_task", slow_task},
                 {"stopped_sender", stopped_sender},
                 {"told_sender", told_sender},
                 {"keeps_cores", keeps_cores},
                 {"slow_callback", slow_callback},
                 {"stuck_callbacks", stuck_callbacks},
                 {"left_callbacks", left_callbacks},
                 {"ticked_callbacks", ticked_callbacks},
                 {"slow_handler", slow_handler},
                 {"slow_child", slow_child}};
    program = arguments[0];
    if (count == 2 && strcmp(arguments[1], "openmp_first") == 0)
        omp_get_max_threads();
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
