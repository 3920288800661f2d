/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: with_assertions=2x2
 * chaos: number=22
 * split:
 * progress: mode=polling|progress
 * Callbacks that block in MPI, through each door that has callbacks: who calls one must go on with
 * the others. A callback's partner is a callback on another rank, and the ranks' callbacks become
 * ready in opposite orders. From the initial thread and from a task; the program runs also without
 * Sennit's runtime. */
#include "check.h"

#include <mpix_continue.h>
#include <mpix_detach.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { callbacks = 6, trigger = 0, there = 100, back = 200 };

struct callback {
    MPI_Request request;
    int index, in, value;
    MPI_Comm comm;
};

static atomic_int called;

/* There and back again; one of two neighbours begins. A collective, too. */
static void talk(struct callback *self) {
    const int tag = self->index;
    CHECK(self->in == tag);
    int token = 1000 + tag, got = -1;
    for (int turn = 0; turn < 2 && ranks > 1; ++turn) {
        if (rank % 2 == turn)
            MPI_Ssend(&token, 1, MPI_INT, next(), there + tag, MPI_COMM_WORLD);
        else
            MPI_Recv(&got, 1, MPI_INT, previous(), there + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(got == 1000 + tag || ranks == 1);
    MPI_Sendrecv(&token, 1, MPI_INT, previous(), back + tag, &got, 1, MPI_INT, next(), back + tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 1000 + tag);
    int sum = 0;
    MPI_Allreduce(&tag, &sum, 1, MPI_INT, MPI_SUM, self->comm);
    CHECK(sum == ranks * tag);
    MPI_Barrier(self->comm);
    MPI_Request request;
    MPI_Isend(&token, 1, MPI_INT, next(), back + tag, self->comm, &request);
    MPI_Status status;
    MPI_Probe(previous(), MPI_ANY_TAG, self->comm, &status);
    MPI_Recv(&got, 1, MPI_INT, previous(), status.MPI_TAG, self->comm, &status);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    if (self->index == 0) { /* what a helper thread does in tasks */
        MPI_Comm other;
        MPI_Comm_split(self->comm, 0, rank, &other);
        MPI_Comm_free(&other);
    }
    atomic_fetch_add(&called, 1);
}

static void detached(void *data) {
    talk(data);
}
static void detached_status(void *data, MPI_Status *status) {
    CHECK(status->MPI_TAG == ((struct callback *)data)->index);
    talk(data);
}
static void detached_all(void *data, int count, MPI_Status *statuses) {
    CHECK(count == 1);
    detached_status(data, statuses);
}
static int continued(int rc, void *data) {
    CHECK(rc == MPI_SUCCESS);
    talk(data);
    return MPI_SUCCESS;
}

/* Blocks only when it is told to: nobody can know before. */
static void sometimes(void *data) {
    struct callback *self = data;
    if (self->value)
        talk(self);
    else
        atomic_fetch_add(&called, 1);
}

static void progress(void) {
    if (getenv("MPIX_DETACH") && strcmp(getenv("MPIX_DETACH"), "progress") == 0)
        sched_yield();
    else
        MPIX_Progress(NULL);
}

static MPI_Comm comms[callbacks];

/* All callbacks wait for their message before the first is sent; each pair of neighbours in another
 * order. */
static void door(const char *name, void (*start)(struct callback *), int value) {
    static struct callback all[callbacks];
    atomic_store(&called, 0);
    for (int i = 0; i < callbacks; ++i) {
        all[i] = (struct callback){.index = i, .in = -1, .comm = comms[i], .value = value};
        MPI_Irecv(&all[i].in, 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &all[i].request);
        start(&all[i]);
    }
    /* Without the runtime callbacks block who finds that they can be called: the call that they are
     * given to, or MPIX_Progress. */
    const int alone = getenv("MPIX_DETACH") != NULL;
    if (alone)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < callbacks; ++i) {
        const int which = rank % 2 ? i : callbacks - 1 - i;
        MPI_Send(&which, 1, MPI_INT, next(), which, MPI_COMM_WORLD);
        if (!alone)
            progress();
    }
    while (atomic_load(&called) < callbacks)
        progress();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", name), fflush(stdout);
}

static void start_plain(struct callback *c) {
    CHECK(MPIX_Detach(&c->request, detached, c) == MPI_SUCCESS);
}
static void start_status(struct callback *c) {
    CHECK(MPIX_Detach_status(&c->request, detached_status, c) == MPI_SUCCESS);
}
static void start_all(struct callback *c) {
    CHECK(MPIX_Detach_all_status(1, &c->request, detached_all, c) == MPI_SUCCESS);
}
static void start_sometimes(struct callback *c) {
    CHECK(MPIX_Detach(&c->request, sometimes, c) == MPI_SUCCESS);
}
static MPI_Request continuations;
static void start_continued(struct callback *c) {
    CHECK(MPIX_Continue(&c->request, continued, c, 0, MPI_STATUS_IGNORE, continuations) ==
          MPI_SUCCESS);
}

static void doors(void) {
    door("MPIX_Detach", start_plain, 1);
    door("MPIX_Detach_status", start_status, 1);
    door("MPIX_Detach_all_status", start_all, 1);
    for (int i = 0; i < 3; ++i)
        door("a callback that does not block", start_sometimes, 0);
    door("until it does", start_sometimes, 1);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_continue_thread", "all");
    CHECK(MPIX_Continue_init(0, 0, info, &continuations) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Start(&continuations);
    door("MPIX_Continue", start_continued, 1);
    MPI_Wait(&continuations, MPI_STATUS_IGNORE);
    MPI_Request_free(&continuations);
}

/* A callback that waits for an OpenMP lock, whose holder waits for a message that comes later: who
 * has called it is not the only one that looks for messages. */
static omp_lock_t lock;
static atomic_int held, begun, ended;
static void locks(void *data) {
    atomic_store(&begun, 1);
    omp_set_lock(&lock);
    CHECK(*(int *)data == 7);
    omp_unset_lock(&lock);
    atomic_store(&ended, 1);
}
static void hold_and_wait(void) {
    int got = -1;
    omp_set_lock(&lock);
    atomic_store(&held, 1);
    MPI_Recv(&got, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 8);
    omp_unset_lock(&lock);
}
static void until(atomic_int *flag) {
    while (!atomic_load(flag)) {
        progress();
#pragma omp taskyield
    }
}
static void callback_waits_for_a_lock(void) {
    static int in;
    const int first = 7, later = 8;
    omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        hold_and_wait();
#pragma omp task
        {
            MPI_Request request;
            until(&held);
            MPI_Irecv(&in, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, &request);
            CHECK(MPIX_Detach(&request, locks, &in) == MPI_SUCCESS); /* may call at once */
        }
#pragma omp task
        {
            MPI_Send(&first, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
            until(&begun);
            MPI_Send(&later, 1, MPI_INT, next(), 1, MPI_COMM_WORLD);
        }
    }
    until(&ended);
    omp_destroy_lock(&lock);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < callbacks; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    doors();
#pragma omp parallel
#pragma omp single
#pragma omp task
    doors();
    if (!getenv("MPIX_DETACH")) /* without the runtime no holder is suspended */
        callback_waits_for_a_lock();
    /* MPI_Finalize waits for callbacks that block. */
    static struct callback last;
    last = (struct callback){.index = 0, .in = -1, .comm = comms[0]};
    int zero = 0;
    MPI_Irecv(&last.in, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, &last.request);
    MPI_Send(&zero, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
    start_plain(&last);
    MPI_Finalize();
    return 0;
}
