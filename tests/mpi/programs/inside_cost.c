/* SPDX-License-Identifier: Apache-2.0
 * What messages inside tasks cost: round trips to oneself, counted by callgrind between the two
 * requests (inside_cost.py). usage: inside_cost outside|chain|independent|suspended */
#include "check.h"
#include "counting.h"

#include <string.h>

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

/* Each receive waits, in a task that is suspended until another task sends. */
static void suspended(int count) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int window = 0; window < count / WINDOW; ++window) {
        for (int i = 0; i < WINDOW; ++i) {
#pragma omp task firstprivate(i)
            MPI_Recv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
#pragma omp taskyield
        for (int i = 0; i < WINDOW; ++i) {
#pragma omp task firstprivate(i)
            {
                out[i] = window;
                MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
            }
        }
#pragma omp taskwait
        for (int i = 0; i < WINDOW; ++i)
            CHECK(in[i] == window);
    }
}

int main(int argc, char **argv) {
    const char *how = argc == 2 ? argv[1] : "";
    void (*trips)(int) = strcmp(how, "outside") == 0       ? outside
                         : strcmp(how, "chain") == 0       ? chain
                         : strcmp(how, "independent") == 0 ? independent
                         : strcmp(how, "suspended") == 0   ? suspended
                                                           : NULL;
    CHECK(trips != NULL);
    begin(&argc, &argv);
    for (int warm = 1; warm >= 0; --warm) {
        if (trips != suspended)
            prepare(TRIPS);
        if (!warm)
            start_counting();
        trips(TRIPS);
        if (!warm)
            stop_counting();
        if (trips != suspended)
            end(TRIPS);
    }
    printf("calls=%d\n", TRIPS);
    MPI_Finalize();
    return 0;
}
