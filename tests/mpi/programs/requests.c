/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=9
 * bells: number=44
 * network, split:
 * Waits in tasks on every kind of request: of all modes of sending, of collectives, generalized,
 * partitioned. The program begins with MPI_Init: tasks may call MPI all the same. */
#define _POSIX_C_SOURCE 200809L
#include "cases.h"

#include <time.h>

static void sends(MPI_Comm comm) {
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {-1, -1, -1, -1};
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, previous(), i, comm, &requests[i]);
    MPI_Barrier(comm); /* a ready send wants its receive posted */
    MPI_Isend(&out[0], 1, MPI_INT, next(), 0, comm, &requests[4]);
    MPI_Issend(&out[1], 1, MPI_INT, next(), 1, comm, &requests[5]);
    MPI_Irsend(&out[2], 1, MPI_INT, next(), 2, comm, &requests[6]);
    MPI_Ibsend(&out[3], 1, MPI_INT, next(), 3, comm, &requests[7]);
    CHECK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < 4; ++i)
        CHECK(in[i] == previous() + i && requests[i] == MPI_REQUEST_NULL);
}

static void collective(MPI_Comm comm) {
    int sum = -1, index = -1, flag = 0;
    MPI_Request requests[2];
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    CHECK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static int query(void *state, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 77;
    return MPI_SUCCESS;
}
static int release(void *state) {
    ++*(int *)state;
    return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* Completed by another task. */
static void generalized(MPI_Comm comm) {
    int state = 3, count = -1;
    MPI_Request request;
    MPI_Status status;
    (void)comm;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Request copy = request;
#pragma omp task firstprivate(copy)
    MPI_Grequest_complete(copy);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && status.MPI_TAG == 77 && request == MPI_REQUEST_NULL);
#pragma omp taskwait
    CHECK(state == 4); // MPICH 5 may call release() as late as this (docs/mpi-faults.md)
}

#if MPI_VERSION >= 4
static void partitioned(MPI_Comm comm) {
    enum { parts = 4 };
    int out[parts] = {0}, in[parts] = {0};
    MPI_Request requests[2];
    MPI_Psend_init(out, parts, 1, MPI_INT, next(), 1, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, parts, 1, MPI_INT, previous(), 1, comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; ++round) {
        MPI_Startall(2, requests);
        if (rank % 2 == 0) /* the others wait long for theirs */
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        for (int i = 0; i < parts; ++i) {
            out[i] = 10 * rank + i + round;
            MPI_Pready(i, requests[0]);
        }
        MPI_Status statuses[2]; /* MPICH 4.0's Testall fails when one of two such is complete */
        if (round == 0)
            CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        else
            CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS &&
                  statuses[1].MPI_SOURCE == previous() && statuses[1].MPI_TAG == 1);
        for (int i = 0; i < parts; ++i)
            CHECK(in[i] == 10 * previous() + i + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Several persistent collectives, completed together. */
static void persistent_collectives(MPI_Comm comm) {
    int value = -1, sum = -1;
    MPI_Request requests[2];
    MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; ++round) {
        value = rank == 0 ? round : -1;
        sum = -1;
        MPI_Startall(2, requests);
        CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        CHECK(value == round && sum == ranks * (ranks - 1) / 2);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void exchanges(MPI_Comm comm) {
    int out = rank, in = -1;
    MPI_Request request;
    MPI_Isendrecv(&out, 1, MPI_INT, next(), 5, &in, 1, MPI_INT, previous(), 5, comm, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && in == previous());
    MPI_Isendrecv_replace(&out, 1, MPI_INT, next(), 6, previous(), 6, comm, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && out == previous());
}

/* Counts of type MPI_Count: the same operations behind other functions. */
static void large_counts(MPI_Comm comm) {
    const MPI_Count one = 1;
    int in = -1, sum = -1;
    MPI_Request request;
    MPI_Irecv_c(&in, one, MPI_INT, previous(), 1, comm, &request);
    MPI_Send_c(&rank, one, MPI_INT, next(), 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == previous());
    MPI_Sendrecv_c(&rank, one, MPI_INT, next(), 2, &in, one, MPI_INT, previous(), 2, comm,
                   MPI_STATUS_IGNORE);
    CHECK(in == previous());
    MPI_Sendrecv_replace_c(&in, one, MPI_INT, previous(), 3, next(), 3, comm, MPI_STATUS_IGNORE);
    CHECK(in == rank);
    MPI_Allreduce_c(&rank, &sum, one, MPI_INT, MPI_SUM, comm);
    CHECK(sum == ranks * (ranks - 1) / 2);
}
#endif

int main(int argc, char **argv) {
    static const struct test_case cases[] = {CASE(sends), CASE(collective), CASE(generalized)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int size = 1000 * (64 + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    run_cases(cases, COUNT_OF(cases), 4);
#if MPI_VERSION >= 4
    static const struct test_case newer[] = {CASE(partitioned), CASE(persistent_collectives),
                                             CASE(exchanges), CASE(large_counts)};
    run_cases(newer, COUNT_OF(newer), 4);
    partitioned(MPI_COMM_WORLD); /* outside of tasks, too */
#endif
    /* Waits for the messages in the buffer; in a task too. */
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(buffer, size)
        MPI_Buffer_detach(&buffer, &size);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
