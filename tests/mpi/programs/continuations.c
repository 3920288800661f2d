/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test:
 * chaos: number=23
 * split:
 * progress: mode=polling|progress
 * MPI's continuations, as Open MPI's extension names them. The program has no OpenMP and runs also
 * without Sennit's runtime. Where a continuation request must be complete, MPI's own calls say so.
 */
#include "check.h"

#include <mpi-ext.h>
#include <stdatomic.h>
#include <string.h>

#ifndef OMPI_HAVE_MPI_EXT_CONTINUE
#error "mpi-ext.h has no continuations"
#endif

enum { messages = 20, failure = 4711 };

static atomic_int called;
static MPI_Request all_of_them;

static int count_call(int rc, void *data) {
    CHECK(rc == MPI_SUCCESS);
    atomic_fetch_add((atomic_int *)data, 1);
    return MPI_SUCCESS;
}

static void exchange(int in[], int out[], MPI_Request receives[], MPI_Request sends[]) {
    for (int i = 0; i < messages; ++i) {
        out[i] = 10 * rank + i;
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &receives[i]);
        MPI_Isend(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &sends[i]);
    }
}

/* Handles become null before the continuation runs, at once if they are given up; statuses are
 * written; the request is complete when all continuations have run. */
static void waits(void) {
    int in[messages], out[messages];
    MPI_Request receives[messages], sends[messages];
    MPI_Status statuses[messages];
    atomic_int count = 0;
    for (int kind = 0; kind < 4; ++kind) {
        const int flags[] = {0, MPIX_CONT_REQBUF_VOLATILE, MPIX_CONT_REQUESTS_FREE,
                             MPIX_CONT_DEFER_COMPLETE};
        atomic_store(&count, 0);
        memset(statuses, -1, sizeof statuses);
        CHECK(MPI_Start(&all_of_them) == MPI_SUCCESS);
        exchange(in, out, receives, sends);
        for (int i = 0; i < messages; ++i) {
            CHECK(MPIX_Continue(&receives[i], count_call, &count, flags[kind], &statuses[i],
                                all_of_them) == MPI_SUCCESS);
            if (kind == 1 || kind == 2)
                CHECK(receives[i] == MPI_REQUEST_NULL);
        }
        CHECK(MPIX_Continueall(messages, sends, count_call, &count, flags[kind],
                               MPI_STATUSES_IGNORE, all_of_them) == MPI_SUCCESS);
        CHECK(MPI_Wait(&all_of_them, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(all_of_them != MPI_REQUEST_NULL && atomic_load(&count) == messages + 1);
        for (int i = 0; i < messages; ++i) {
            CHECK(receives[i] == MPI_REQUEST_NULL && sends[i] == MPI_REQUEST_NULL);
            CHECK(in[i] == 10 * previous() + i && statuses[i].MPI_TAG == i);
        }
    }
}

/* A ball goes round until a continuation, which starts the next leg, lets it drop. */
struct ball {
    MPI_Request request, continuations;
    int value, legs;
};
static int pass_on(int rc, void *data) {
    struct ball *ball = data;
    CHECK(rc == MPI_SUCCESS);
    if (ball->legs-- == 0)
        return MPI_SUCCESS;
    MPI_Request send;
    int *copy = malloc(sizeof *copy);
    *copy = ball->value + 1;
    MPI_Isend(copy, 1, MPI_INT, next(), 50, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send); /* the receive of the next leg says that it is through */
    MPI_Irecv(&ball->value, 1, MPI_INT, previous(), 50, MPI_COMM_WORLD, &ball->request);
    return MPIX_Continue(&ball->request, pass_on, ball, 0, MPI_STATUS_IGNORE, ball->continuations);
}
static void chain(void) {
    enum { legs = 200 };
    struct ball ball = {.continuations = all_of_them, .legs = legs, .value = 0};
    MPI_Start(&all_of_them);
    MPI_Request nothing;
    MPI_Ibarrier(MPI_COMM_SELF, &nothing);
    CHECK(MPIX_Continue(&nothing, pass_on, &ball, 0, MPI_STATUS_IGNORE, all_of_them) ==
          MPI_SUCCESS);
    int flag = 0;
    while (!flag)
        CHECK(MPI_Test(&all_of_them, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(ball.value == legs && ball.legs == -1);
}

/* Poll-only: nothing runs but in tests of the request, and no more than max_poll. An inactive
 * request runs nothing. */
static void restraint(void) {
    MPI_Request slow, requests[messages];
    atomic_int count = 0;
    CHECK(MPIX_Continue_init(MPIX_CONT_POLL_ONLY, 3, MPI_INFO_NULL, &slow) == MPI_SUCCESS);
    for (int i = 0; i < messages; ++i) {
        MPI_Ibarrier(MPI_COMM_SELF, &requests[i]);
        CHECK(MPIX_Continue(&requests[i], count_call, &count, 0, MPI_STATUS_IGNORE, slow) ==
              MPI_SUCCESS);
    }
    int flag = 0, tests = 0;
    for (int i = 0; i < 100; ++i) {
        int other;
        MPI_Iprobe(MPI_ANY_SOURCE, 4242, MPI_COMM_SELF, &other, MPI_STATUS_IGNORE);
    }
    CHECK(atomic_load(&count) == 0);
    MPI_Start(&slow);
    CHECK(atomic_load(&count) == 0);
    while (!flag) {
        const int before = atomic_load(&count);
        CHECK(MPI_Test(&slow, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(atomic_load(&count) - before <= 3);
        ++tests;
    }
    CHECK(atomic_load(&count) == messages && tests >= messages / 3);
    /* complete at once: nothing is registered */
    MPI_Start(&slow);
    MPI_Wait(&slow, MPI_STATUS_IGNORE);
    CHECK(MPI_Request_free(&slow) == MPI_SUCCESS && slow == MPI_REQUEST_NULL);
}

/* Among other requests, in every call that takes arrays. */
static void arrays(void) {
    for (int kind = 0; kind < 6; ++kind) {
        int in = -1, value = rank, count = 0, index = -1, flag = 0, indices[3];
        MPI_Request requests[3] = {MPI_REQUEST_NULL, all_of_them, MPI_REQUEST_NULL}, receive;
        atomic_int calls = 0;
        MPI_Start(&all_of_them);
        MPI_Irecv(&in, 1, MPI_INT, previous(), 60, MPI_COMM_WORLD, &receive);
        MPIX_Continue(&receive, count_call, &calls, 0, MPI_STATUS_IGNORE, all_of_them);
        if (kind < 2) {
            MPI_Isend(&value, 1, MPI_INT, next(), 60, MPI_COMM_WORLD, &requests[0]);
            if (kind == 0)
                MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
            while (kind == 1 && !flag)
                MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
        } else {
            MPI_Send(&value, 1, MPI_INT, next(), 60, MPI_COMM_WORLD);
            if (kind == 2)
                MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
            if (kind == 3)
                MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
            while (kind == 4 && !flag)
                MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
            while (kind == 5 && count == 0)
                MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
            CHECK(kind % 2 == 0 ? index == 1 : count == 1 && indices[0] == 1);
        }
        CHECK(in == previous() && atomic_load(&calls) == 1 && requests[1] == all_of_them);
    }
}

/* Persistent operations keep their handles. */
static void persistent(void) {
    int in = -1, out = -1;
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_INT, previous(), 70, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, next(), 70, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; ++round) {
        atomic_int count = 0;
        out = 10 * rank + round;
        MPI_Start(&all_of_them);
        MPI_Startall(2, requests);
        MPIX_Continueall(2, requests, count_call, &count, 0, MPI_STATUSES_IGNORE, all_of_them);
        MPI_Wait(&all_of_them, MPI_STATUS_IGNORE);
        CHECK(atomic_load(&count) == 1 && in == 10 * previous() + round);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

#if MPI_VERSION >= 4
/* One of two partitioned operations is complete long before the other one. MPICH 4.0's MPI_Testall
 * says then that something has failed. */
static void partitioned(void) {
    int in = -1, out = 10 + rank, flag = 0;
    MPI_Request requests[2];
    MPI_Psend_init(&out, 1, 1, MPI_INT, next(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&in, 1, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    atomic_int count = 0;
    MPI_Start(&all_of_them);
    MPI_Startall(2, requests);
    MPIX_Continueall(2, requests, count_call, &count, 0, MPI_STATUSES_IGNORE, all_of_them);
    for (const double begin = MPI_Wtime(); rank % 2 == 0 && MPI_Wtime() - begin < 0.02;)
        MPI_Test(&all_of_them, &flag, MPI_STATUS_IGNORE);
    MPI_Pready(0, requests[0]);
    MPI_Wait(&all_of_them, MPI_STATUS_IGNORE);
    CHECK(!flag && atomic_load(&count) == 1 && in == 10 + previous());
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

static int see_truncation(int rc, void *data) {
    int class;
    MPI_Error_class(rc, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    atomic_fetch_add((atomic_int *)data, 1);
    return MPI_SUCCESS;
}
static int refuse(int rc, void *data) {
    (void)rc, (void)data;
    return failure;
}

/* Failed operations and failed continuations. */
static void failures(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int two[2] = {1, 2};
    int one, class, others = -1;
    MPI_Request request, sends[2];
    atomic_int count = 0;
    void *data[4];
    for (int i = 0; i < 2; ++i)
        MPI_Isend(two, 2, MPI_INT, next(), 80 + i, MPI_COMM_WORLD, &sends[i]);
    MPI_Start(&all_of_them);
    MPI_Irecv(&one, 1, MPI_INT, previous(), 80, MPI_COMM_WORLD, &request);
    MPIX_Continue(&request, see_truncation, &count, MPIX_CONT_INVOKE_FAILED, MPI_STATUS_IGNORE,
                  all_of_them);
    CHECK(MPI_Wait(&all_of_them, MPI_STATUS_IGNORE) == MPI_SUCCESS && atomic_load(&count) == 1);
    MPI_Start(&all_of_them);
    MPI_Irecv(&one, 1, MPI_INT, previous(), 81, MPI_COMM_WORLD, &request);
    MPIX_Continue(&request, see_truncation, &count, 0, MPI_STATUS_IGNORE, all_of_them);
    MPI_Request nothing;
    MPI_Ibarrier(MPI_COMM_SELF, &nothing);
    MPIX_Continue(&nothing, refuse, &others, 0, MPI_STATUS_IGNORE, all_of_them);
    MPI_Status status;
    const int error = MPI_Wait(&all_of_them, &status);
    CHECK(error != MPI_SUCCESS && status.MPI_ERROR == error && atomic_load(&count) == 1);
    MPI_Error_class(error, &class);
    CHECK(error == failure || class == MPI_ERR_TRUNCATE);
    int n = 4;
    CHECK(MPIX_Continue_get_failed(all_of_them, &n, data) == MPI_SUCCESS && n == 2);
    CHECK((data[0] == &count && data[1] == &others) || (data[1] == &count && data[0] == &others));
    CHECK(MPIX_Continue_get_failed(all_of_them, &n, data) == MPI_SUCCESS && n == 0);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Start(&all_of_them);
    CHECK(MPI_Wait(&all_of_them, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPIX_Continue(&request, refuse, NULL, 0, MPI_STATUS_IGNORE, MPI_REQUEST_NULL) ==
          MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_continue_thread", "all");
    CHECK(MPIX_Continue_init(0, 0, info, &all_of_them) == MPI_SUCCESS);
    MPI_Info_free(&info);
    waits();
    chain();
    restraint();
    arrays();
    persistent();
#if MPI_VERSION >= 4
    partitioned();
#endif
    failures();
    /* Freed with a continuation left; MPI_Finalize waits for it. */
    static int late_in, late_out;
    MPI_Request receive, send;
    MPI_Start(&all_of_them);
    MPI_Irecv(&late_in, 1, MPI_INT, previous(), 99, MPI_COMM_WORLD, &receive);
    MPIX_Continue(&receive, count_call, &called, MPIX_CONT_REQUESTS_FREE, MPI_STATUS_IGNORE,
                  all_of_them);
    CHECK(MPI_Request_free(&all_of_them) == MPI_SUCCESS);
    MPI_Isend(&late_out, 1, MPI_INT, next(), 99, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return atomic_load(&called) == 1 ? 0 : 1;
}
