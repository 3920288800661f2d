// SPDX-License-Identifier: Apache-2.0
// build:
//     compile='{gcc} -O1 -std=c11 -Wall -Wextra -Werror -Wno-stringop-overflow -fopenmp
//     -I{include}'
//     -- {file('sennit-' + mpi)}
// Two ranks exchange messages inside tasks, in the way that is asked for. Their traces are
// replayed: replay_test.py. With TAMPI's and MPI Detach's functions, so that it is linked with
// Sennit.
//
// usage: exchanges WAY
#include <TAMPI.h>
#include <mpi.h>
#include <mpix_detach.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 25000 }; // 100 kB: beyond the simulator's eager limit

static int g_other;
static int g_out[kCount], g_in[2][kCount];

static void sendrecv(void) {
#pragma omp task
    MPI_Sendrecv(g_out, kCount, MPI_INT, g_other, 0, g_in[0], kCount, MPI_INT, g_other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void isend(void) {
#pragma omp task
    {
        MPI_Request request;
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// Each part in a task of its own.
static void split(void) {
    MPI_Request *requests = malloc(2 * sizeof *requests);
#pragma omp task depend(out : requests[0])
    {
        MPI_Irecv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[1]);
    }
#pragma omp task depend(in : requests[0])
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#pragma omp taskwait
    free(requests);
}

static void probe(void) {
    for (int round = 0; round < 3; ++round) {
#pragma omp task depend(inout : g_in[0])
        {
            MPI_Request request;
            MPI_Status status;
            MPI_Isend(g_out, kCount, MPI_INT, g_other, round, MPI_COMM_WORLD, &request);
            MPI_Probe(g_other, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Recv(g_in[0], kCount, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

// Of two messages with one tag the first is received last; on a communicator whose ranks have other
// numbers.
static void mprobe(void) {
#pragma omp task
    {
        MPI_Comm turned;
        MPI_Comm_split(MPI_COMM_WORLD, 0, g_other, &turned);
        int me;
        MPI_Comm_rank(turned, &me);
        MPI_Request requests[2];
        for (int i = 0; i < 2; ++i)
            MPI_Isend(g_out, kCount - i, MPI_INT, 1 - me, 0, turned, &requests[i]);
        MPI_Message messages[2];
        for (int i = 0; i < 2; ++i)
            MPI_Mprobe(1 - me, 0, turned, &messages[i], MPI_STATUS_IGNORE);
        for (int i = 1; i >= 0; --i)
            MPI_Mrecv(g_in[i], kCount - i, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Comm_free(&turned);
    }
}

// Rank 1 sends its second message when rank 0 has told that it has the first.
static void waitany(void) {
#pragma omp task
    if (g_other == 1) {
        MPI_Request requests[2];
        for (int i = 0; i < 2; ++i)
            MPI_Irecv(g_in[i], kCount, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        int which;
        MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
        MPI_Send(g_out, kCount, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(g_out, kCount, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(g_in[0], kCount, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(g_out, kCount, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

static void test(void) {
#pragma omp task
    {
        MPI_Request requests[2];
        MPI_Irecv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[1]);
        for (int flag = 0; !flag;) {
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
#pragma omp taskyield
        }
    }
}

// As mprobe, without a call that blocks until the end.
static void improbe(void) {
#pragma omp task
    {
        MPI_Request requests[4];
        for (int i = 0; i < 2; ++i)
            MPI_Isend(g_out, kCount - i, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Message messages[2];
        for (int i = 0; i < 2; ++i)
            for (int flag = 0; !flag;) {
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &messages[i],
                            MPI_STATUS_IGNORE);
#pragma omp taskyield
            }
        for (int i = 1; i >= 0; --i)
            MPI_Imrecv(g_in[i], kCount - i, MPI_INT, &messages[i], &requests[2 + i]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

static void isendrecv(void) {
#if MPI_VERSION >= 4
#pragma omp task
    {
        MPI_Request request;
        MPI_Isendrecv(g_out, kCount, MPI_INT, g_other, 0, g_in[0], kCount, MPI_INT, g_other, 0,
                      MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#else
    sendrecv();
#endif
}

static void tampi(void) {
#pragma omp task depend(out : g_in[0])
    {
        MPI_Request requests[2];
        MPI_Irecv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[1]);
        TAMPI_Iwaitall(2, requests, MPI_STATUSES_IGNORE);
    }
#pragma omp task depend(inout : g_in[0])
    MPI_Send(g_in[0], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD);
#pragma omp task
    MPI_Recv(g_in[1], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void fulfill(void *event) {
    omp_fulfill_event((omp_event_handle_t)event);
}

static void detach(void) {
    omp_event_handle_t event;
#pragma omp task depend(out : g_in[0]) detach(event)
    {
        MPI_Request requests[2];
        MPI_Irecv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[1]);
        MPIX_Detach_all(2, requests, fulfill, (void *)event);
    }
#pragma omp task depend(inout : g_in[0])
    MPI_Send(g_in[0], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD);
#pragma omp task
    MPI_Recv(g_in[1], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The first of three tasks completes by what the second begins.
static void detach_other(void) {
    omp_event_handle_t event;
#pragma omp task depend(out : g_in[0]) detach(event)
    {
    }
#pragma omp task firstprivate(event)
    {
        MPI_Request requests[2];
        MPI_Irecv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, &requests[1]);
        MPIX_Detach(&requests[0], (MPIX_Detach_function *)(void (*)(void))omp_fulfill_event,
                    (void *)event);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
#pragma omp task depend(inout : g_in[0])
    MPI_Send(g_in[0], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD);
#pragma omp task
    MPI_Recv(g_in[1], kCount, MPI_INT, g_other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// What the first task waits for is sent by the last one.
static void window(void) {
#pragma omp task depend(out : g_in[0])
    MPI_Recv(g_in[0], kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) {
#pragma omp task depend(inout : g_in[0])
        g_in[0][i] = -g_in[0][i];
    }
#pragma omp task
    MPI_Ssend(g_out, kCount, MPI_INT, g_other, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"sendrecv", sendrecv}, {"isend", isend},     {"split", split},
                {"probe", probe},       {"mprobe", mprobe},   {"waitany", waitany},
                {"test", test},         {"improbe", improbe}, {"isendrecv", isendrecv},
                {"tampi", tampi},       {"detach", detach},   {"detach_other", detach_other},
                {"window", window}};
    int provided, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    g_other = 1 - rank;
    int found = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        if (size != 2 || argc < 2 || strcmp(argv[1], ways[i].name) != 0)
            continue;
        found = 1;
#pragma omp parallel
#pragma omp single
        ways[i].run();
    }
    if (!found)
        fprintf(stderr, "usage: exchanges WAY, with 2 ranks\n");
    MPI_Finalize();
    return !found;
}
