/* SPDX-License-Identifier: Apache-2.0
 * test:
 * chaos: number=30
 * split:
 * A task that tests again and again for a message which comes when another task has gone on, one
 * that is suspended on the same thread: the tests let it go on. By every call that tests. */
#include "check.h"

enum { to_receiver, go, done, answer };
static MPI_Group following, preceding;
static MPI_Win win;

static int test_one(MPI_Request *request, int *value) {
    int flag = 0;
    (void)value;
    CHECK(MPI_Test(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    return flag;
}
static int test_all(MPI_Request *request, int *value) {
    int flag = 0;
    (void)value;
    CHECK(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    return flag;
}
static int test_any(MPI_Request *request, int *value) {
    int flag = 0, index = -1;
    (void)value;
    CHECK(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    return flag;
}
static int test_some(MPI_Request *request, int *value) {
    int count = 0, index = -1;
    (void)value;
    CHECK(MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    return count == 1;
}
static int get_status(MPI_Request *request, int *value) {
    int flag = 0;
    (void)value;
    CHECK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    return flag && test_one(request, value);
}
static int probe(MPI_Request *request, int *value) {
    int flag = 0;
    (void)request;
    CHECK(MPI_Iprobe(next(), answer, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (flag)
        MPI_Recv(value, 1, MPI_INT, next(), answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return flag;
}
static int matched_probe(MPI_Request *request, int *value) {
    int flag = 0;
    MPI_Message message;
    (void)request;
    CHECK(MPI_Improbe(next(), answer, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    if (flag)
        MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    return flag;
}
static int window(MPI_Request *request, int *value) {
    int flag = 0;
    (void)request;
    CHECK(MPI_Win_test(win, &flag) == MPI_SUCCESS);
    *value = 5;
    return flag;
}
#if MPI_VERSION >= 4
static int partition(MPI_Request *request, int *value) {
    int flag = 0;
    (void)value;
    CHECK(MPI_Parrived(*request, 0, &flag) == MPI_SUCCESS);
    return flag;
}
#endif

static int (*const tests[])(MPI_Request *, int *) = {
    window,    test_one, test_all, test_any, test_some, get_status, probe, matched_probe,
#if MPI_VERSION >= 4
    partition,
#endif
};
enum { kinds = sizeof tests / sizeof *tests };

static void poll(int kind) {
    const int posts = kind >= 1 && kind <= 5;
    int value = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (posts)
        MPI_Irecv(&value, 1, MPI_INT, next(), answer, MPI_COMM_WORLD, &request);
    if (kind == 0)
        MPI_Win_post(following, 0, win);
#if MPI_VERSION >= 4
    if (kind == 8) {
        MPI_Precv_init(&value, 1, 1, MPI_INT, next(), answer, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
    }
#endif
    MPI_Send(&kind, 1, MPI_INT, next(), go, MPI_COMM_WORLD);
    while (!tests[kind](&request, &value))
        ;
#if MPI_VERSION >= 4
    if (kind == 8) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
#endif
    CHECK(value == 5);
}

/* For the neighbor: when he polls, his receiver gets its message, and when that has told so, he
 * gets what he polls for. */
static void serve(int kind) {
    const int five = 5;
    int heard = -1;
    MPI_Recv(&heard, 1, MPI_INT, previous(), go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(heard == kind);
    MPI_Send(&five, 1, MPI_INT, previous(), to_receiver, MPI_COMM_WORLD);
    MPI_Recv(&heard, 1, MPI_INT, previous(), done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (kind == 0) {
        MPI_Win_start(preceding, 0, win);
        MPI_Win_complete(win);
        return;
    }
#if MPI_VERSION >= 4
    if (kind == 8) {
        MPI_Request request;
        MPI_Psend_init(&five, 1, 1, MPI_INT, previous(), answer, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return;
    }
#endif
    MPI_Send(&five, 1, MPI_INT, previous(), answer, MPI_COMM_WORLD);
}

static void receive(int kind) {
    int value = -1;
#pragma omp task
    poll(kind);
    MPI_Recv(&value, 1, MPI_INT, next(), to_receiver, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, next(), done, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const int with_windows = ranks > 1; /* one rank alone: Open MPI 4.1 makes none */
    IN_WINDOW int memory = 0;
    if (with_windows) {
        MPI_Group world;
        const int after = next(), before = previous();
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &after, &following);
        MPI_Group_incl(world, 1, &before, &preceding);
        MPI_Group_free(&world);
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    for (int kind = !with_windows; kind < kinds; ++kind) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            serve(kind);
#pragma omp task
            receive(kind);
        }
    }
    if (with_windows) {
        MPI_Win_free(&win);
        MPI_Group_free(&following);
        MPI_Group_free(&preceding);
    }
    MPI_Finalize();
    return 0;
}
