/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=16
 * network, split, in_world:
 * TAMPI_Iwait[all] (task-aware MPI paper, section 6.2), MPIX_Detach* (MPI detach paper,
 * section 4.1) with OpenMP's detach: dependences are released when the communication is complete.
 */
#include "check.h"

#include <TAMPI.h>
#include <mpix_detach.h>
#include <omp.h>
#include <stdatomic.h>

enum { messages = 40 };

static void iwait(void) {
    int values[messages], sum = 0;
    MPI_Status statuses[messages];
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(values, statuses) depend(out : values[i])
        {
            MPI_Request request;
            MPI_Irecv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
            CHECK(TAMPI_Iwait(&request, &statuses[i]) == MPI_SUCCESS);
            CHECK(request == MPI_REQUEST_NULL);
        }
#pragma omp task firstprivate(i) shared(values, statuses, sum) depend(in : values[i])              \
    depend(inout : sum)
        {
            CHECK(values[i] == 100 + i && statuses[i].MPI_TAG == i);
            sum += values[i];
        }
    }
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
        {
            const int value = 100 + i;
            MPI_Ssend(&value, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
#pragma omp taskwait
    CHECK(sum == 100 * messages + messages * (messages - 1) / 2);
}

static void iwaitall(void) {
    int values[messages], after = 0;
#pragma omp task shared(values) depend(out : values)
    {
        MPI_Request requests[messages];
        for (int i = 0; i < messages; ++i)
            MPI_Irecv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &requests[i]);
        CHECK(TAMPI_Iwaitall(messages, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }
#pragma omp task shared(values, after) depend(in : values)
    for (int i = 0; i < messages; ++i)
        after += values[i] == i;
#pragma omp task
    for (int i = messages - 1; i >= 0; --i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
#pragma omp taskwait
    CHECK(after == messages);
}

static void fulfil(void *data) {
    omp_fulfill_event((omp_event_handle_t)data);
}

static void detach_clause(void) {
    int values[messages], right = 0;
    for (int i = 0; i < messages; ++i) {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task firstprivate(i) shared(values) detach(event) depend(out : values[i])
        {
            MPI_Request request;
            MPI_Irecv(&values[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
            CHECK(MPIX_Detach(&request, fulfil, (void *)event) == MPI_SUCCESS);
            CHECK(request == MPI_REQUEST_NULL);
        }
#pragma omp task firstprivate(i) shared(values, right) depend(in : values[i]) depend(inout : right)
        right += values[i] == i;
    }
    for (int i = messages - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
#pragma omp taskwait
    CHECK(right == messages);
}

/* Whichever thread tests requests runs these callbacks, one at a time. */
static atomic_int completed, statuses_right, all, all_status;

static void count_one(void *data) {
    atomic_fetch_add((atomic_int *)data, 1);
}
static void count_status(void *data, MPI_Status *status) {
    atomic_fetch_add(&statuses_right, status->MPI_TAG == *(int *)data);
}
static void count_all(void *data, int count, MPI_Status *statuses) {
    for (int i = 0; i < count; ++i)
        atomic_fetch_add(&statuses_right, statuses[i].MPI_TAG == i);
    atomic_fetch_add((atomic_int *)data, 1);
}

static void progress_until(atomic_int *counter, int expected) {
    while (atomic_load(counter) < expected)
        MPIX_Progress(NULL);
    CHECK(atomic_load(counter) == expected);
}

/* Outside of tasks, from one thread, driven by MPIX_Progress. */
static void family(void) {
    int values[5][messages], tags[messages];
    void *ones[messages], *tag_data[messages];
    MPI_Request requests[messages], sends[messages];
    for (int i = 0; i < messages; ++i) {
        tags[i] = i;
        ones[i] = &completed;
        tag_data[i] = &tags[i];
    }
    for (int kind = 0; kind < 5; ++kind) {
        for (int i = 0; i < messages; ++i) {
            MPI_Irecv(&values[kind][i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &requests[i]);
            MPI_Isend(&tags[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &sends[i]);
        }
        switch (kind) {
        case 0:
            MPIX_Detach_each(messages, requests, count_one, ones);
            break;
        case 1:
            MPIX_Detach_each_status(messages, requests, count_status, tag_data);
            break;
        case 2:
            MPIX_Detach_all(messages, requests, count_one, &all);
            break;
        case 3:
            MPIX_Detach_all_status(messages, requests, count_all, &all_status);
            break;
        default:
            for (int i = 0; i < messages; ++i)
                MPIX_Detach_status(&requests[i], count_status, &tags[i]);
            break;
        }
        for (int i = 0; i < messages; ++i)
            CHECK(requests[i] == MPI_REQUEST_NULL);
        MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
    }
    progress_until(&completed, messages);
    progress_until(&statuses_right, 3 * messages);
    progress_until(&all, 1);
    progress_until(&all_status, 1);
}

/* A persistent request is inactive afterwards, not gone, as after MPI_Wait. */
static void persistent_requests(void) {
    enum { rounds = 3 };
    int one = -1, several[2] = {-1, -1}, count = 2;
    MPI_Request single, requests[3];
    MPI_Recv_init(&one, 1, MPI_INT, previous(), 200, MPI_COMM_WORLD, &single);
    for (int i = 0; i < 2; ++i)
        MPI_Recv_init(&several[i], 1, MPI_INT, previous(), 201 + i, MPI_COMM_WORLD, &requests[i]);
#if MPI_VERSION >= 4
    if (ranks <= 2) /* MPICH 4.0's persistent collectives fail on more */
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count++]);
#endif
    for (int round = 0; round < rounds; ++round) {
#pragma omp task shared(single, one) depend(out : one)
        {
            MPI_Start(&single);
            CHECK(TAMPI_Iwait(&single, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(single != MPI_REQUEST_NULL);
        }
#pragma omp task shared(requests, several) depend(out : several)
        {
            MPI_Startall(count, requests);
            CHECK(TAMPI_Iwaitall(count, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
            for (int i = 0; i < count; ++i)
                CHECK(requests[i] != MPI_REQUEST_NULL);
        }
#pragma omp task shared(one, several) depend(in : one, several)
        CHECK(one == round && several[0] == round + 1 && several[1] == round + 2);
#pragma omp task
        for (int i = 0; i < 3; ++i) {
            const int value = round + i;
            MPI_Ssend(&value, 1, MPI_INT, next(), 200 + i, MPI_COMM_WORLD);
        }
#pragma omp taskwait
    }
    MPI_Request_free(&single);
    for (int i = 0; i < count; ++i)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    {
        iwait();
        iwaitall();
        persistent_requests();
        detach_clause();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    family();
    MPI_Finalize();
    return 0;
}
