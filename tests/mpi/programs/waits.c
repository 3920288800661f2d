/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x1|2x2|4x1 with_assertions=2x2 checked_fibers=1
 * chaos: number=3
 * bells: number=42
 * network, lending, split:
 * Wait, Waitall, Waitany and Waitsome inside tasks, on ordinary, persistent, null and inactive
 * requests. */
#include "check.h"

enum { count = 10, tasks = 8 };

static void post(int base, int *values, MPI_Request *requests) {
    for (int i = 0; i < count; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, previous(), base + i, MPI_COMM_WORLD, &requests[i]);
}

static void answer(int base) {
    for (int i = count - 1; i >= 0; --i) {
        const int value = base + i;
        MPI_Ssend(&value, 1, MPI_INT, next(), base + i, MPI_COMM_WORLD);
    }
}

static void check_values(int base, const int *values) {
    for (int i = 0; i < count; ++i)
        CHECK(values[i] == base + i);
}

static void wait_each(int base) {
    int values[count];
    MPI_Request requests[count];
    post(base, values, requests);
    for (int i = 0; i < count; ++i) {
        MPI_Status status;
        CHECK(MPI_Wait(&requests[i], &status) == MPI_SUCCESS);
        CHECK(requests[i] == MPI_REQUEST_NULL && status.MPI_TAG == base + i);
        CHECK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    check_values(base, values);
}

static void wait_all(int base) {
    int values[count];
    MPI_Request requests[count];
    MPI_Status statuses[count];
    post(base, values, requests);
    for (int i = 0; i < count; ++i)
        statuses[i].MPI_ERROR = 4711;
    CHECK(MPI_Waitall(count, requests, statuses) == MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
        CHECK(requests[i] == MPI_REQUEST_NULL && statuses[i].MPI_TAG == base + i);
        CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS); /* with both MPIs */
    }
    check_values(base, values);
    CHECK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

static void wait_any(int base) {
    int values[count], seen = 0, index;
    MPI_Request requests[count];
    MPI_Status status;
    post(base, values, requests);
    for (int i = 0; i < count; ++i) {
        CHECK(MPI_Waitany(count, requests, &index, &status) == MPI_SUCCESS);
        CHECK(index >= 0 && index < count && status.MPI_TAG == base + index);
        seen |= 1 << index;
    }
    CHECK(seen == (1 << count) - 1);
    CHECK(MPI_Waitany(count, requests, &index, &status) == MPI_SUCCESS && index == MPI_UNDEFINED);
    check_values(base, values);
}

static void wait_some(int base) {
    int values[count], indices[count], done = 0, outcount;
    MPI_Request requests[count];
    MPI_Status statuses[count];
    post(base, values, requests);
    while (done < count) {
        CHECK(MPI_Waitsome(count, requests, &outcount, indices, statuses) == MPI_SUCCESS);
        CHECK(outcount >= 1);
        for (int i = 0; i < outcount; ++i)
            CHECK(statuses[i].MPI_TAG == base + indices[i]);
        done += outcount;
    }
    CHECK(MPI_Waitsome(count, requests, &outcount, indices, statuses) == MPI_SUCCESS);
    CHECK(outcount == MPI_UNDEFINED);
    check_values(base, values);
}

static void persistent(int base) {
    int value;
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, previous(), base, MPI_COMM_WORLD, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); /* inactive */
    for (int i = 0; i < count; ++i) {
        value = -1;
        MPI_Start(&request);
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(value == i && request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&request);
}

static void feed_persistent(int base) {
    for (int i = 0; i < count; ++i)
        MPI_Ssend(&i, 1, MPI_INT, next(), base, MPI_COMM_WORLD);
}

static void (*const kinds[])(int) = {wait_each, wait_all, wait_any, wait_some};

int main(int argc, char **argv) {
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    {
        for (int kind = 0; kind < 4; ++kind)
            for (int task = 0; task < tasks; ++task) {
                const int base = (kind * tasks + task) * count;
                void (*const wait)(int) = kinds[kind];
#pragma omp task firstprivate(wait, base)
                wait(base);
            }
#pragma omp task
        persistent(30000);
        for (int task = 4 * tasks - 1; task >= 0; --task) {
#pragma omp task
            answer(task * count);
        }
#pragma omp task
        feed_persistent(30000);
    }
    MPI_Finalize();
    return 0;
}
