/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x2
 * chaos: number=15
 * Error handlers that leave the call in a task by longjmp, as those of C++ programs do by throw.
 * The calls that follow in the thread suspend their tasks as before: with one thread, the first of
 * two that meet would wait for ever. MPICH does not bear it, bare either: there the handler
 * returns. */
#include "check.h"

#include <setjmp.h>

static jmp_buf caller;
static int called;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    ++called;
#ifdef OPEN_MPI
    longjmp(caller, 1);
#endif
}

enum { SEND, PROBE, BCAST, SENDRECV, ISEND, REDUCE, CALLS };

static void fail(int call, MPI_Comm comm) {
    int value = 0, other = 0;
    const int nobody = ranks + 7;
    MPI_Request request;
    switch (call) {
    case SEND:
        MPI_Send(&value, 1, MPI_INT, nobody, 0, comm);
        break;
    case PROBE:
        MPI_Probe(nobody, 0, comm, MPI_STATUS_IGNORE);
        break;
    case BCAST:
        MPI_Bcast(&value, 1, MPI_INT, nobody, comm);
        break;
    case SENDRECV:
        MPI_Sendrecv(&value, 1, MPI_INT, nobody, 0, &other, 1, MPI_INT, rank, 0, comm,
                     MPI_STATUS_IGNORE);
        break;
    case ISEND:
        MPI_Isend(&value, 1, MPI_INT, nobody, 0, comm, &request);
        break;
    case REDUCE:
        MPI_Reduce(&value, &other, 1, MPI_INT, MPI_SUM, nobody, comm);
        break;
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    for (int call = 0; call < CALLS; ++call) {
#pragma omp parallel num_threads(1)
#pragma omp single
        {
#pragma omp task
            if (setjmp(caller) == 0)
                fail(call, comm);
#pragma omp taskwait
            CHECK(called == call + 1);
            for (int way = 0; way < 2; ++way) {
#pragma omp task firstprivate(way)
                {
                    int got = -1;
                    if (way == 0) {
                        MPI_Recv(&got, 1, MPI_INT, rank, call, comm, MPI_STATUS_IGNORE);
                        CHECK(got == call);
                    } else {
                        MPI_Ssend(&call, 1, MPI_INT, rank, call, comm);
                    }
                }
            }
        }
    }
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
