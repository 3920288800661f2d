/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all -- {library}
 * test: shape=1x1|2x1|2x2|4x1 sample="shape == '2x2'"
 * chaos: number=17
 * lending, split:
 * TAMPI's calls without a request, and its properties: the task ends at once, its dependences are
 * released when the operation is complete; statuses are valid then. */
#define _DEFAULT_SOURCE 1 // usleep
#include "check.h"

#include <TAMPI.h>
#include <unistd.h>

enum { messages = 40, most = 8 };

static void point_to_point(void) {
    int got[messages], values[messages], sum = 0;
    MPI_Status statuses[messages];
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(got, statuses) depend(out : got[i])
        CHECK(TAMPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &statuses[i]) ==
              MPI_SUCCESS);
#pragma omp task firstprivate(i) shared(got, statuses, sum) depend(in : got[i]) depend(inout : sum)
        {
            int count = -1;
            MPI_Get_count(&statuses[i], MPI_INT, &count);
            CHECK(got[i] == 100 + i && statuses[i].MPI_TAG == i && count == 1);
            CHECK(statuses[i].MPI_SOURCE == previous());
            sum += got[i];
        }
    }
    for (int i = messages - 1; i >= 0; --i) {
        values[i] = -1;
#pragma omp task firstprivate(i) shared(values) depend(out : values[i])
        {
            values[i] = 100 + i;
            int (*const sends[])(const void *, int, MPI_Datatype, int, int,
                                 MPI_Comm) = {TAMPI_Isend, TAMPI_Issend, TAMPI_Ibsend};
            CHECK(sends[i % 3](&values[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD) == MPI_SUCCESS);
        }
#pragma omp task firstprivate(i) shared(values) depend(inout : values[i])
        values[i] = 0; /* the buffer is ours again */
    }
#pragma omp taskwait
    CHECK(sum == 100 * messages + messages * (messages - 1) / 2);
}

static int ones[most], offsets[most], bytes[most], twice[most];
static MPI_Datatype types[most];

/* Start the collective `which`; the results are checked by the task that depends on it. */
static void start(int which, MPI_Comm comm, int *mine, int *all) {
    switch (which) {
    case 0:
        TAMPI_Ibarrier(comm);
        break;
    case 1:
        all[0] = rank == 0 ? 42 : -1;
        TAMPI_Ibcast(all, 1, MPI_INT, 0, comm);
        break;
    case 2:
        TAMPI_Igather(mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
        break;
    case 3:
        TAMPI_Igatherv(mine, 1, MPI_INT, all, ones, offsets, MPI_INT, 0, comm);
        break;
    case 4:
        TAMPI_Iscatter(twice, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
        break;
    case 5:
        TAMPI_Iscatterv(twice, ones, offsets, MPI_INT, all, 1, MPI_INT, 0, comm);
        break;
    case 6:
        TAMPI_Iallgather(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
        break;
    case 7:
        TAMPI_Iallgatherv(mine, 1, MPI_INT, all, ones, offsets, MPI_INT, comm);
        break;
    case 8:
        TAMPI_Ialltoall(twice, 1, MPI_INT, all, 1, MPI_INT, comm);
        break;
    case 9:
        TAMPI_Ialltoallv(twice, ones, offsets, MPI_INT, all, ones, offsets, MPI_INT, comm);
        break;
    case 10:
        TAMPI_Ialltoallw(twice, ones, bytes, types, all, ones, bytes, types, comm);
        break;
    case 11:
        TAMPI_Ireduce(mine, all, 1, MPI_INT, MPI_SUM, 0, comm);
        break;
    case 12:
        TAMPI_Iallreduce(mine, all, 1, MPI_INT, MPI_SUM, comm);
        break;
    case 13:
        TAMPI_Ireduce_scatter(twice, all, ones, MPI_INT, MPI_SUM, comm);
        break;
    case 14:
        TAMPI_Ireduce_scatter_block(twice, all, 1, MPI_INT, MPI_SUM, comm);
        break;
    case 15:
        TAMPI_Iscan(mine, all, 1, MPI_INT, MPI_SUM, comm);
        break;
    default:
        TAMPI_Iexscan(mine, all, 1, MPI_INT, MPI_SUM, comm);
        break;
    }
}

static void check(int which, const int *all) {
    const int sum = ranks * (ranks + 1) / 2;
    switch (which) {
    case 0:
        break;
    case 1:
        CHECK(all[0] == 42);
        break;
    case 4:
    case 5:
        CHECK(all[0] == rank);
        break;
    case 8:
    case 9:
    case 10:
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == 10 * i + rank);
        break;
    case 11:
        CHECK(rank != 0 || all[0] == sum);
        break;
    case 12:
        CHECK(all[0] == sum);
        break;
    case 13:
    case 14:
        CHECK(all[0] == 10 * ranks * (ranks - 1) / 2 + ranks * rank);
        break;
    case 15:
        CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
        break;
    case 16:
        CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
        break;
    default:
        for (int i = 0; i < ranks && (which > 3 || rank == 0); ++i)
            CHECK(all[i] == i + 1);
    }
}

static void collectives(void) {
    enum { kinds = 17 };
    MPI_Comm comms[kinds];
    int mine = rank + 1, all[kinds][most];
    for (int i = 0; i < most; ++i) {
        ones[i] = 1;
        offsets[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
        twice[i] = 10 * rank + i;
    }
    for (int i = 0; i < kinds; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < kinds; ++i) {
        const int which = (i + 5 * rank) % kinds;
        int *const result = all[which];
        MPI_Comm comm = comms[which];
#pragma omp task firstprivate(which, result, comm) shared(mine) depend(out : result[0])
        start(which, comm, &mine, result);
#pragma omp task firstprivate(which, result) depend(in : result[0])
        check(which, result);
    }
    for (int i = 0; i < kinds; ++i)
        MPI_Comm_free(&comms[i]);
}

static void properties(void) {
    int value = -1, flag = -1;
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_BLOCKING_MODE, &value) == MPI_SUCCESS && value == 1);
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_NONBLOCKING_MODE, &value) == MPI_SUCCESS && value == 1);
    CHECK(TAMPI_Blocking_enabled(&flag) == MPI_SUCCESS && flag == 1);
    CHECK(TAMPI_Nonblocking_enabled(&flag) == MPI_SUCCESS && flag == 1);
    CHECK(TAMPI_Property_set(TAMPI_PROPERTY_BLOCKING_MODE, 0) != MPI_SUCCESS);
    CHECK(TAMPI_Property_get(4711, &value) != MPI_SUCCESS);
    CHECK(TAMPI_Property_set(TAMPI_PROPERTY_THREAD_TASKAWARE, 0) == MPI_SUCCESS);
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_THREAD_TASKAWARE, &value) == MPI_SUCCESS && value == 0);
    CHECK(TAMPI_Property_set(TAMPI_PROPERTY_THREAD_TASKAWARE, 1) == MPI_SUCCESS);
}

/* Receives by the task's end, not by its calls. */
static void bind_receive(int *into, int tag) {
    MPI_Request request;
    *into = -1;
    MPI_Irecv(into, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, &request);
    CHECK(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

/* One call of several for the requests of a task: null requests, none at all, statuses or not.
 * Those are valid for the tasks that depend on it. */
static void several_requests(void) {
    static int got[2 * messages], values[2 * messages];
    static MPI_Status statuses[2 * messages][2];
    for (int i = 0; i < 2 * messages; ++i) {
#pragma omp task firstprivate(i) depend(out : got[i], statuses[i])
        {
            MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            got[i] = -1;
            values[i] = 1000 * rank + i;
            MPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&values[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &requests[1]);
            if (i % 3 == 0) {
                CHECK(TAMPI_Iwaitall(2, requests, statuses[i]) == MPI_SUCCESS);
            } else if (i % 3 == 1) {
                CHECK(TAMPI_Iwaitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
            } else {
                CHECK(TAMPI_Iwait(&requests[0], &statuses[i][0]) == MPI_SUCCESS);
                CHECK(TAMPI_Iwait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
                CHECK(TAMPI_Iwaitall(0, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
                CHECK(TAMPI_Iwait(&requests[2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
            }
        }
#pragma omp task firstprivate(i) depend(in : got[i], statuses[i])
        {
            int count = 1;
            if (i % 3 != 1) {
                MPI_Get_count(&statuses[i][0], MPI_INT, &count);
                CHECK(statuses[i][0].MPI_SOURCE == previous() && statuses[i][0].MPI_TAG == i);
            }
            CHECK(count == 1 && got[i] == 1000 * previous() + i);
        }
    }
#pragma omp taskwait
}

/* An undeferred task holds its creator until it is complete: it has what it asked for (OpenMP 5.2,
 * 12.5). The messages come from other tasks, for a rank may be its own neighbour. */
static void undeferred(void) {
    enum { kinds = 6 };
    int values[kinds];
    for (int i = 0; i < kinds; ++i) {
#pragma omp task firstprivate(i)
        {
            usleep(200);
            MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
#pragma omp task if (0) shared(values)
    bind_receive(&values[0], 0);
    CHECK(values[0] == 0);
#pragma omp taskloop if (0) grainsize(1) shared(values)
    for (int i = 1; i < 3; ++i)
        bind_receive(&values[i], i);
    CHECK(values[1] == 1 && values[2] == 2);
#pragma omp task final(1) shared(values)
    {
#pragma omp task shared(values)
        bind_receive(&values[3], 3);
        CHECK(values[3] == 3);
#pragma omp task mergeable shared(values) depend(out : values[4])
        bind_receive(&values[4], 4);
        CHECK(values[4] == 4);
#pragma omp taskloop num_tasks(1) shared(values)
        for (int i = 5; i < kinds; ++i)
            bind_receive(&values[i], i);
        CHECK(values[5] == 5);
    }
#pragma omp taskwait
}

/* And so do those that depend on it. */
static void undeferred_in_order(void) {
    for (int round = 0; round < 10; ++round) {
        int mine = rank + round, theirs = -1;
#pragma omp task if (0) depend(out : theirs) shared(mine, theirs)
        {
            MPI_Request requests[2];
            MPI_Irecv(&theirs, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
            if (rank == 0)
                usleep(1000);
            MPI_Isend(&mine, 1, MPI_INT, next(), 1, MPI_COMM_WORLD, &requests[1]);
            CHECK(TAMPI_Iwaitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        }
        CHECK(theirs == previous() + round);
#pragma omp task depend(in : theirs) shared(theirs)
        CHECK(theirs == previous() + round);
#pragma omp taskwait
    }
}

int main(int argc, char **argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    CHECK(provided == MPI_TASK_MULTIPLE);
    MPI_Query_thread(&provided);
    CHECK(provided == MPI_TASK_MULTIPLE);
    CHECK(TAMPI_Init(MPI_TASK_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_TASK_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks <= most);
    int size = messages * (64 + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    properties();
#pragma omp parallel
#pragma omp single
    point_to_point();
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 10; ++round)
        undeferred();
#pragma omp parallel
#pragma omp single
    {
        undeferred_in_order();
        several_requests();
    }
    undeferred(); /* outside of parallel regions */
    collectives();
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    CHECK(TAMPI_Finalize() == MPI_SUCCESS);
    MPI_Finalize();
    return 0;
}
