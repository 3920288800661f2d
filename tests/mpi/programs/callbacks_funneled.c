/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * progress: mode=polling
 * Callbacks below MPI_THREAD_MULTIPLE in a program without a task runtime: one that blocks polls,
 * and others are called on top of it. And so many that each begins the next must not pile up. */
#include "check.h"

#include <mpix_continue.h>
#include <mpix_detach.h>

enum { callbacks = 40, there = 100, chain = 200000 };

static int called, deepest, depth, incoming[callbacks], numbers[callbacks];
static MPI_Request continuations;

/* What a helper thread would do blocks the thread itself: all other callbacks have returned. */
static void split(void *data) {
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &other);
    MPI_Comm_free(&other);
    ++*(int *)data;
}

/* Blocks in a call of each kind: a message, a wait, a collective. */
static void talk(void *data) {
    const int i = *(int *)data;
    int got = -1, sum = 0;
    MPI_Request request;
    deepest = ++depth > deepest ? depth : deepest;
    CHECK(incoming[i] == i);
    MPI_Irecv(&got, 1, MPI_INT, previous(), there + i, MPI_COMM_WORLD, &request);
    MPI_Ssend(&i, 1, MPI_INT, next(), there + i, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == i);
    if (i == callbacks - 1) { /* the last one on all ranks: collectives have an order */
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks * i);
    }
    ++called;
    --depth;
}
static int continued(int error, void *data) {
    CHECK(error == MPI_SUCCESS);
    talk(data);
    return MPI_SUCCESS;
}

static void all(int continue_them) {
    called = 0;
    for (int i = 0; i < callbacks; ++i) {
        MPI_Request request;
        numbers[i] = i;
        MPI_Irecv(&incoming[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
        if (continue_them)
            CHECK(MPIX_Continue(&request, continued, &numbers[i], MPIX_CONT_REQBUF_VOLATILE,
                                MPI_STATUS_IGNORE, continuations) == MPI_SUCCESS);
        else
            CHECK(MPIX_Detach(&request, talk, &numbers[i]) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* one that could be called at once would block this loop */
    for (int i = 0; i < callbacks; ++i)
        MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    while (called < callbacks)
        MPIX_Progress(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void begin_next(void *data) {
    MPI_Request null = MPI_REQUEST_NULL;
    if (++*(int *)data < chain)
        CHECK(MPIX_Detach(&null, begin_next, data) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    int provided = -1, links = 0, splits = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_FUNNELED);
    all(0);
    MPI_Request null = MPI_REQUEST_NULL;
    CHECK(MPIX_Detach(&null, split, &splits) == MPI_SUCCESS);
    while (splits == 0)
        MPIX_Progress(NULL);
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &continuations);
    MPI_Start(&continuations);
    all(1);
    MPI_Wait(&continuations, MPI_STATUS_IGNORE);
    MPI_Request_free(&continuations);
    begin_next(&links);
    while (links < chain)
        MPIX_Progress(NULL);
    if (rank == 0)
        printf("%d callbacks, %d at most at once\n", 2 * callbacks, deepest);
    MPI_Finalize();
    return 0;
}
