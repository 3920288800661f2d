/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=19
 * What sections 4 to 6 of the task-aware MPI paper and of the MPI detach paper say and no other
 * test shows; each case names the section. */
#include "cases.h"

#include <TAMPI.h>
#include <mpix_detach.h>
#include <omp.h>

/* Task-aware MPI, section 5: a synchronous send and its receive, in two tasks of one thread, in
 * both orders. */
static void matching_calls(MPI_Comm comm) {
    for (int first = 0; first < 2; ++first) {
        int value = -1;
        for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i, first) shared(value)
            if ((i == 0) == (first == 0))
                MPI_Recv(&value, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
            else
                MPI_Ssend(&first, 1, MPI_INT, rank, 1, comm);
        }
#pragma omp taskwait
        CHECK(value == first);
    }
}

/* Task-aware MPI, section 6.2: the two modes in one task; what depends on it runs after both. */
static void both_modes(MPI_Comm comm) {
    int bound = -1, blocking = -1, seen = 0;
#pragma omp task shared(bound, blocking) depend(out : bound)
    {
        MPI_Request request;
        MPI_Irecv(&bound, 1, MPI_INT, previous(), 1, comm, &request);
        CHECK(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_Recv(&blocking, 1, MPI_INT, previous(), 2, comm, MPI_STATUS_IGNORE);
        CHECK(blocking == 2);
    }
#pragma omp task shared(bound, blocking, seen) depend(in : bound)
    seen = bound == 1 && blocking == 2;
#pragma omp task
    for (int tag = 2; tag >= 1; --tag) /* what was bound comes last */
        MPI_Ssend(&tag, 1, MPI_INT, next(), tag, comm);
#pragma omp taskwait
    CHECK(seen);
}

/* Task-aware MPI, section 6.3: the program asks whether communication in tasks may run side by
 * side, and would serialize it otherwise. */
static void thread_level(MPI_Comm comm) {
    int provided = -1;
    MPI_Query_thread(&provided);
    CHECK(provided == MPI_TASK_MULTIPLE && MPI_TASK_MULTIPLE > MPI_THREAD_MULTIPLE);
    int in[2] = {-1, -1};
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i) shared(in)
        MPI_Recv(&in[i], 1, MPI_INT, previous(), i, comm, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, comm);
    }
#pragma omp taskwait
    CHECK(in[0] == 0 && in[1] == 1);
}

/* MPI detach, section 6.3, source code 12: the wrappers of the transformed program. */
static void fulfil(void *event) {
    omp_fulfill_event((omp_event_handle_t)event);
}

static void receive_detached(int *data, int tag, MPI_Comm comm) {
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : *data) firstprivate(data, tag, comm)
    {
        MPI_Request request;
        MPI_Irecv(data, 1, MPI_INT, previous(), tag, comm, &request);
        MPIX_Detach(&request, fulfil, (void *)event);
    }
}

static void send_detached(int *data, int tag, MPI_Comm comm) {
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(in : *data) firstprivate(data, tag, comm)
    {
        MPI_Request request;
        MPI_Issend(data, 1, MPI_INT, next(), tag, comm, &request);
        MPIX_Detach(&request, fulfil, (void *)event);
    }
}

static void wait_detached(int *data) {
#pragma omp taskwait depend(inout : *data)
}

static void wrappers(MPI_Comm comm) {
    int in = -1, out = 40 + rank;
    receive_detached(&in, 1, comm);
    send_detached(&out, 1, comm);
    wait_detached(&in);
    CHECK(in == 40 + previous());
    wait_detached(&out);
    out = -1;
}

/* The creator of an undeferred task does not wait for the event of detach (OpenMP 5.2, 12.5.2), but
 * for the messages that the task has handed over. */
static void undeferred(MPI_Comm comm) {
    int in[3] = {-1, -1, -1}, out[3] = {7, 8, 9};
    for (int i = 0; i < 3; ++i) {
#pragma omp task shared(out) firstprivate(i)
        MPI_Ssend(&out[i], 1, MPI_INT, next(), i, comm);
    }
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task if (0) detach(event) shared(in)
    {
        MPI_Request request;
        MPI_Irecv(&in[0], 1, MPI_INT, previous(), 0, comm, &request);
        MPIX_Detach(&request, fulfil, (void *)event);
    }
    CHECK(in[0] == 7);
#pragma omp task if (0) detach(event) shared(in) depend(out : in[1])
    {
        MPI_Request requests[2];
        for (int i = 0; i < 2; ++i)
            MPI_Irecv(&in[1 + i], 1, MPI_INT, previous(), 1 + i, comm, &requests[i]);
        MPIX_Detach_all(2, requests, fulfil, (void *)event);
    }
    CHECK(in[1] == 8 && in[2] == 9);
#pragma omp taskwait
}

/* Task-aware MPI, section 4.7: an implicit task that waits in MPI leaves its thread to the tasks of
 * its team, also where it is the only thread, and the message is a queued task's. In both orders.
 */
static void implicit_tasks(void) {
    for (int first = 0; first < 2; ++first) {
        int value = -1;
#pragma omp parallel num_threads(1)
#pragma omp single
        {
#pragma omp task shared(value) firstprivate(first)
            if (first)
                MPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Ssend(&first, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
            if (first)
                MPI_Ssend(&first, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
            else
                MPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(value == first);
    }
}

int main(int argc, char **argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static const struct test_case cases[] = {CASE(matching_calls), CASE(both_modes),
                                             CASE(thread_level), CASE(wrappers), CASE(undeferred)};
    run_cases(cases, COUNT_OF(cases), 5);
    implicit_tasks();
    MPI_Finalize();
    return 0;
}
