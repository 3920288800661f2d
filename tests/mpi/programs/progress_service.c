/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=2x1
 * MPI detach paper. Section 6.1: the callback of what is complete already is called before
 * MPIX_Detach returns. Section 4.3: MPIX_Progress is a polling service as Nanos6 has them, and
 * MPI goes on with messages in it while the program calls neither. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <mpix_detach.h>
#include <nanos6.h>
#include <sched.h>

static int called, right;

static void count(void *data) {
    ++*(int *)data;
}
static void count_status(void *data, MPI_Status *status) {
    right += status->MPI_SOURCE == previous() && status->MPI_TAG == 1;
    ++*(int *)data;
}

/* A receive that is complete. */
static MPI_Request received(int *value) {
    MPI_Request request;
    int over = 0;
    MPI_Irecv(value, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, next(), 1, MPI_COMM_WORLD);
    for (;; sched_yield()) {
        MPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
        if (over)
            return request;
    }
}

/* How a callback behaves is known once it has been called. */
static void learn(void) {
    MPI_Request null = MPI_REQUEST_NULL;
    CHECK(MPIX_Detach(&null, count, &called) == MPI_SUCCESS);
    null = MPI_REQUEST_NULL;
    CHECK(MPIX_Detach_status(&null, count_status, &called) == MPI_SUCCESS);
    while (called < 2)
        MPIX_Progress(NULL);
    called = right = 0;
}

static void at_once(void) {
    int values[2], wanted = 0;
    MPI_Request requests[2];
    void *data[2] = {&called, &called};
    learn();
    for (int round = 0; round < 4; ++round) {
        requests[0] = received(&values[0]);
        CHECK(MPIX_Detach(requests, count, &called) == MPI_SUCCESS);
        CHECK(called == ++wanted && requests[0] == MPI_REQUEST_NULL && values[0] == previous());
        requests[0] = received(&values[0]);
        CHECK(MPIX_Detach_status(requests, count_status, &called) == MPI_SUCCESS);
        CHECK(called == ++wanted && requests[0] == MPI_REQUEST_NULL && right == round + 1);
        for (int i = 0; i < 2; ++i)
            requests[i] = received(&values[i]);
        CHECK(MPIX_Detach_each(2, requests, count, data) == MPI_SUCCESS);
        wanted += 2;
        CHECK(called == wanted && requests[1] == MPI_REQUEST_NULL);
    }
}

typedef void service_call(const char *, nanos6_polling_service_t, void *);
static service_call *runtimes(const char *name) {
    service_call *found = NULL;
    *(void **)&found = dlsym(RTLD_DEFAULT, name);
    CHECK(found != NULL);
    return found;
}

/* Rank 1 sends synchronously, and rank 0 calls no MPI until that is over: so what it has begun to
 * receive arrives by the service alone. */
static void polling_service(void) {
    enum { numbers = 50000 };
    static int values[numbers];
    volatile int *over = NULL;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &over, &window);
    MPI_Aint bytes;
    int unit;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &over);
    if (rank == 0)
        *over = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(values, numbers, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        runtimes("nanos6_register_polling_service")("MPI", MPIX_Progress, NULL);
        while (!__atomic_load_n(over, __ATOMIC_ACQUIRE))
            sched_yield();
        runtimes("nanos6_unregister_polling_service")("MPI", MPIX_Progress, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < numbers; ++i)
            CHECK(values[i] == i);
    } else {
        for (int i = 0; i < numbers; ++i)
            values[i] = i;
        MPI_Ssend(values, numbers, MPI_INT, 0, 2, MPI_COMM_WORLD);
        __atomic_store_n(over, 1, __ATOMIC_RELEASE);
    }
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    at_once();
    polling_service();
    MPI_Finalize();
    return 0;
}
