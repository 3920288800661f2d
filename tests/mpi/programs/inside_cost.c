/* SPDX-License-Identifier: Apache-2.0
 * build_once: if="SENNIT_VALGRIND and not sanitized" sources=inside_cost.c|counting.c -fopenmp
 * What messages inside tasks cost: round trips to oneself, counted by callgrind between the two
 * requests (inside_cost.py). usage: inside_cost HOW, one of the names in `ways`. */
#include "check.h"
#include "counting.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

/* Null without a library that has them. */
int TAMPI_Iwait(MPI_Request *request, MPI_Status *status) __attribute__((weak));
int MPIX_Detach(MPI_Request *request, void (*function)(void *), void *data) __attribute__((weak));

enum { TRIPS = 1000, WINDOW = 10 };

static int out[WINDOW], in[WINDOW];
static int sent[TRIPS], received[TRIPS];
static MPI_Request requests[2 * TRIPS];

/* The other side of each trip, so that no call of it has to wait. */
static void prepare(int count) {
    for (int i = 0; i < count; ++i) {
        sent[i] = i;
        MPI_Irecv(&received[i], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[i]);
        MPI_Isend(&sent[i], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[count + i]);
    }
}

static void trip(int i) {
    out[0] = i;
    MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Recv(in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void end(int count) {
    for (int i = 0; i < 2 * count; ++i)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    long sum = 0; /* in any order */
    for (int i = 0; i < count; ++i)
        sum += received[i];
    CHECK(sum == (long)count * (count - 1) / 2);
    CHECK(in[0] >= 0 && in[0] < count);
}

static void outside(int count) {
    for (int i = 0; i < count; ++i)
        trip(i);
}

/* Each trip is a task that depends on the one before. */
static void chain(int count) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task depend(inout : in) firstprivate(i)
        trip(i);
    }
}

/* Each trip is a task that could run beside the others. */
static void independent(int count) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
        trip(i);
    }
}

/* How a task waits for what it receives. */
enum wait { BLOCKING, BOUND, DETACHED };

static void fulfil(void *event) {
    omp_fulfill_event((omp_event_handle_t)event);
}

static void receive(int i, enum wait wait, omp_event_handle_t event) {
    MPI_Request request;
    if (wait == BLOCKING) {
        MPI_Recv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request);
    if (wait == BOUND)
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    else
        MPIX_Detach(&request, fulfil, (void *)event);
}

static void start_receive(int i, enum wait wait) {
    if (wait == DETACHED) {
        omp_event_handle_t event;
#pragma omp task firstprivate(i, wait) detach(event)
        receive(i, wait, event);
    } else {
#pragma omp task firstprivate(i, wait)
        receive(i, wait, (omp_event_handle_t)0);
    }
}

static void start_send(int i, int value) {
#pragma omp task firstprivate(i, value)
    {
        out[i] = value;
        MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
    }
}

/* Each receive waits until another task sends. */
static void waiting(int count, enum wait wait) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int window = 0; window < count / WINDOW; ++window) {
        for (int i = 0; i < WINDOW; ++i)
            start_receive(i, wait);
#pragma omp taskyield
        for (int i = 0; i < WINDOW; ++i)
            start_send(i, window);
#pragma omp taskwait
        for (int i = 0; i < WINDOW; ++i)
            CHECK(in[i] == window);
    }
}
static void suspended(int count) {
    waiting(count, BLOCKING);
}
static void bound(int count) {
    waiting(count, BOUND);
}
static void detached(int count) {
    waiting(count, DETACHED);
}

/* The chain, whose tasks start their calls and bind themselves to what is over by then. */
static void bound_chain(int count) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task depend(inout : in) firstprivate(i)
        {
            MPI_Request request;
            out[0] = i;
            MPI_Isend(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
            TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
            MPI_Irecv(in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
            TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
        }
    }
}

/* The same, detached. */
static void detached_chain(int count) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < count; ++i) {
        omp_event_handle_t event;
#pragma omp task depend(inout : in) firstprivate(i) detach(event)
        {
            MPI_Request request;
            out[0] = i;
            MPI_Isend(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Irecv(in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
            MPIX_Detach(&request, fulfil, (void *)event);
        }
    }
}

/* Two chains that send each other messages in turns, as two ranks would: whoever receives waits. */
static void leg(int chain, int i, enum wait wait, omp_event_handle_t event) {
    MPI_Request request;
    const int from = 10 + chain, to = 11 - chain;
    const bool sends = (i + chain) % 2 == 0;
    if (wait == BLOCKING) {
        if (sends)
            MPI_Send(&out[chain], 1, MPI_INT, 0, to, MPI_COMM_SELF);
        else
            MPI_Recv(&in[chain], 1, MPI_INT, 0, from, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        return;
    }
    if (sends)
        MPI_Isend(&out[chain], 1, MPI_INT, 0, to, MPI_COMM_SELF, &request);
    else
        MPI_Irecv(&in[chain], 1, MPI_INT, 0, from, MPI_COMM_SELF, &request);
    if (wait == BOUND)
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
    else
        MPIX_Detach(&request, fulfil, (void *)event);
}

static void turns(int count, enum wait wait) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < 2 * count; ++i)
        for (int chain = 1; chain >= 0; --chain) {
            if (wait == DETACHED) {
                omp_event_handle_t event;
#pragma omp task depend(inout : in[chain]) firstprivate(chain, i, wait) detach(event)
                leg(chain, i, wait, event);
            } else {
#pragma omp task depend(inout : in[chain]) firstprivate(chain, i, wait)
                leg(chain, i, wait, (omp_event_handle_t)0);
            }
        }
}
static void turns_blocking(int count) {
    turns(count, BLOCKING);
}
static void turns_bound(int count) {
    turns(count, BOUND);
}
static void turns_detached(int count) {
    turns(count, DETACHED);
}

static const struct {
    const char *name;
    void (*trips)(int count);
    bool prepared; /* of the messages of trip() */
} ways[] = {
    {"outside", outside, true},
    {"chain", chain, true},
    {"independent", independent, true},
    {"suspended", suspended, false},
    {"bound", bound, false},
    {"detached", detached, false},
    {"bound_chain", bound_chain, true},
    {"detached_chain", detached_chain, true},
    {"turns_blocking", turns_blocking, false},
    {"turns_bound", turns_bound, false},
    {"turns_detached", turns_detached, false},
};

int main(int argc, char **argv) {
    size_t way = 0;
    while (way < sizeof ways / sizeof *ways &&
           strcmp(argc == 2 ? argv[1] : "", ways[way].name) != 0)
        ++way;
    CHECK(way < sizeof ways / sizeof *ways);
    begin(&argc, &argv);
    for (int warm = 1; warm >= 0; --warm) {
        if (ways[way].prepared)
            prepare(TRIPS);
        if (!warm)
            start_counting();
        ways[way].trips(TRIPS);
        if (!warm)
            stop_counting();
        if (ways[way].prepared)
            end(TRIPS);
    }
    printf("calls=%d\n", TRIPS);
    MPI_Finalize();
    return 0;
}
