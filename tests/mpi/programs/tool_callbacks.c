/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test:
 * A profiling tool in front of Sennit's library, and callbacks that block: it sees each of their
 * calls once and none of Sennit's, and they block nobody. */
#include "check.h"
#include "tool.h"

#include <mpix_detach.h>
#include <sched.h>

enum { callbacks = 12, there = 100 };

static atomic_int called;

/* What only Sennit calls here, too. */
int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request) {
    atomic_fetch_add(&others, 1);
    return PMPI_Issend(buf, count, datatype, dest, tag, comm, request);
}

/* Each needs its neighbours', which are called in another order. */
static void talk(void *data) {
    const int tag = there + *(int *)data;
    int got = -1;
    for (int turn = 0; turn < 2 && ranks > 1; ++turn) {
        if (rank % 2 == turn)
            MPI_Ssend(&tag, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
        else
            MPI_Recv(&got, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(got == tag || ranks == 1);
    atomic_fetch_add(&called, 1);
}

static void exchange(void) {
    static int numbers[callbacks], in[callbacks];
    for (int i = 0; i < callbacks; ++i) {
        MPI_Request request;
        numbers[i] = i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
        CHECK(MPIX_Detach(&request, talk, &numbers[i]) == MPI_SUCCESS);
    }
    for (int k = 0; k < callbacks; ++k) {
        const int i = rank % 2 ? k : callbacks - 1 - k;
        MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
    while (atomic_load(&called) < callbacks) {
        MPIX_Progress(NULL);
        sched_yield();
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    exchange();
    MPI_Barrier(MPI_COMM_WORLD);
    const int messages = ranks > 1 ? callbacks : 0;
    CHECK(atomic_load(&receives) == messages && atomic_load(&sends) == messages);
    CHECK(atomic_load(&others) == 0);
    MPI_Finalize();
    return 0;
}
