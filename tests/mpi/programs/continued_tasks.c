/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all -- {library}
 * test: shape=1x1|2x1|2x2|4x1 sample="shape == '2x2'" with_assertions=2x2
 * chaos: number=24
 * lending, split:
 * MPI's continuations in OpenMP programs: they fulfil the events of detached tasks, for which
 * nobody tests the continuation request; and a task that waits for one is suspended. */
#include "check.h"

#include <mpix_continue.h>
#include <omp.h>

enum { messages = 60 };

static int fulfil(int rc, void *data) {
    CHECK(rc == MPI_SUCCESS);
    omp_fulfill_event((omp_event_handle_t)data);
    return MPI_SUCCESS;
}

static void detached(MPI_Request continuations) {
    int values[messages], right = 0;
    MPI_Status statuses[messages];
    for (int i = 0; i < messages; ++i) {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task firstprivate(i) shared(values, statuses) detach(event) depend(out : values[i])
        {
            MPI_Request request;
            MPI_Irecv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
            CHECK(MPIX_Continue(&request, fulfil, (void *)event, MPIX_CONT_REQBUF_VOLATILE,
                                &statuses[i], continuations) == MPI_SUCCESS);
        }
#pragma omp task firstprivate(i) shared(values, right, statuses) depend(in : values[i])            \
    depend(inout : right)
        right += values[i] == i && statuses[i].MPI_TAG == i;
    }
    for (int i = messages - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
#pragma omp taskwait
    CHECK(right == messages);
}

/* The creator of an undeferred task finds its messages there. */
static void undeferred(MPI_Request continuations) {
    int values[8];
    for (int i = 0; i < 8; ++i) {
#pragma omp task firstprivate(i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 8; ++i) {
        omp_event_handle_t event = (omp_event_handle_t)0;
        values[i] = -1;
#pragma omp task if (0) firstprivate(i) shared(values) detach(event)
        {
            MPI_Request request;
            MPI_Irecv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
            CHECK(MPIX_Continue(&request, fulfil, (void *)event, MPIX_CONT_REQBUF_VOLATILE,
                                MPI_STATUS_IGNORE, continuations) == MPI_SUCCESS);
        }
        CHECK(values[i] == i);
    }
#pragma omp taskwait
}

static int count_call(int rc, void *data) {
    CHECK(rc == MPI_SUCCESS);
#pragma omp atomic
    ++*(int *)data;
    return MPI_SUCCESS;
}

struct blocked {
    int entered, value;
};

static int receive(int rc, void *data) {
    struct blocked *blocked = data;
    CHECK(rc == MPI_SUCCESS);
#pragma omp atomic write
    blocked->entered = 1;
    return MPI_Recv(&blocked->value, 1, MPI_INT, previous(), messages, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE);
}

/* A task waits for a continuation of something that is complete, so that it is called in the task
 * and not by who polls. */
static void continue_with(MPIX_Continue_cb_function *function, void *data) {
    MPI_Request continuations, nothing = MPI_REQUEST_NULL;
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &continuations);
    MPI_Start(&continuations);
    MPIX_Continue(&nothing, function, data, 0, MPI_STATUS_IGNORE, continuations);
    MPI_Wait(&continuations, MPI_STATUS_IGNORE);
    MPI_Request_free(&continuations);
}

/* While a callback blocks, and with it the task that it was called in, its thread calls the
 * continuations of others. */
static void blocking_callback(void) {
    struct blocked blocked = {0, -1};
    int calls = 0;
#pragma omp task shared(blocked)
    continue_with(receive, &blocked);
#pragma omp task shared(blocked, calls)
    {
        for (int entered = 0; !entered;) {
#pragma omp taskyield
#pragma omp atomic read
            entered = blocked.entered;
        }
        continue_with(count_call, &calls);
        MPI_Send(&calls, 1, MPI_INT, next(), messages, MPI_COMM_WORLD);
    }
#pragma omp taskwait
    CHECK(calls == 1 && blocked.value == 1);
}

static omp_lock_t lock;

static int take_lock(int rc, void *data) {
    CHECK(rc == MPI_SUCCESS);
#pragma omp atomic write
    *(int *)data = 1;
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    return MPI_SUCCESS;
}

static void yield_until(const int *flag) {
    for (int now = 0; !now;) {
#pragma omp taskyield
#pragma omp atomic read
        now = *flag;
    }
}

/* The same where the callback waits for a lock of OpenMP's, and who holds it for a continuation.
 * The callback does not block in MPI, so it is called in its task. */
static void locking_callback(MPI_Request continuations) {
    int held = 0, entered = 0, calls = 0;
    omp_init_lock(&lock);
    for (int i = 0; i < 2; ++i) { /* what they are like has to be known */
        continue_with(take_lock, &entered);
        continue_with(count_call, &calls);
    }
    entered = calls = 0;
#pragma omp task shared(held, entered, calls)
    {
        MPI_Request nothing = MPI_REQUEST_NULL;
        omp_set_lock(&lock);
#pragma omp atomic write
        held = 1;
        yield_until(&entered);
        MPIX_Continue(&nothing, count_call, &calls, 0, MPI_STATUS_IGNORE, continuations);
        yield_until(&calls);
        omp_unset_lock(&lock);
    }
#pragma omp task shared(held, entered)
    {
        yield_until(&held);
        continue_with(take_lock, &entered);
    }
#pragma omp taskwait
    CHECK(calls == 1);
    omp_destroy_lock(&lock);
}

/* More tasks that wait than threads, before the tasks that send. */
static void suspended(void) {
    int done = 0;
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(done)
        {
            int value = -1, calls = 0;
            MPI_Request continuations, receive, others[2];
            MPIX_Continue_init(i % 3 == 2 ? MPIX_CONT_POLL_ONLY : 0, i % 2, MPI_INFO_NULL,
                               &continuations);
            MPI_Start(&continuations);
            MPI_Irecv(&value, 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &receive);
            MPIX_Continue(&receive, count_call, &calls, 0, MPI_STATUS_IGNORE, continuations);
            if (i % 4 == 0) {
                others[0] = continuations;
                MPI_Ibarrier(MPI_COMM_SELF, &others[1]);
                MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
            } else {
                MPI_Wait(&continuations, MPI_STATUS_IGNORE);
            }
            CHECK(value == 7 * i && calls == 1);
            MPI_Request_free(&continuations);
#pragma omp atomic
            ++done;
        }
    }
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
        {
            const int value = 7 * i;
            MPI_Ssend(&value, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
#pragma omp taskwait
    CHECK(done == messages);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Request continuations;
    CHECK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &continuations) == MPI_SUCCESS);
    MPI_Start(&continuations);
#pragma omp parallel
#pragma omp single
    {
        detached(continuations);
        undeferred(continuations);
        suspended();
        if (!getenv("SENNIT_CHAOS")) /* which makes everything late */
            blocking_callback(), locking_callback(continuations);
    }
    MPI_Wait(&continuations, MPI_STATUS_IGNORE);
    MPI_Request_free(&continuations);
    MPI_Finalize();
    return 0;
}
