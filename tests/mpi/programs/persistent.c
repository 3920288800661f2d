/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x1|2x2|4x1
 * chaos: number=2
 * split, in_world:
 * Persistent sends of each mode and persistent receives in tasks, started again and again, alone
 * and together; `sennit report` sees the messages, and fa that the tasks send (report_test.py). */
#include "check.h"

enum { rounds = 3, modes = 3 };

static int (*const send_inits[modes])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                      MPI_Request *) = {MPI_Send_init, MPI_Ssend_init,
                                                        MPI_Bsend_init};

static void receive(int mode) {
    int value = -1;
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, previous(), mode, MPI_COMM_WORLD, &request);
    for (int i = 0; i < rounds; ++i) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(value == 100 * previous() + 10 * mode + i && request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&request);
}

static void send(int mode) {
    int value = -1;
    MPI_Request request;
    send_inits[mode](&value, 1, MPI_INT, next(), mode, MPI_COMM_WORLD, &request);
    for (int i = 0; i < rounds; ++i) {
        value = 100 * rank + 10 * mode + i;
        CHECK((i % 2 ? MPI_Start(&request) : MPI_Startall(1, &request)) == MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

/* Ready mode wants its receive before; and a request outlives the handle of its communicator. */
static void ready_send(void) {
    int in = -1, out = rank;
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(&in, 1, MPI_INT, previous(), 9, comm, &requests[0]);
    MPI_Rsend_init(&out, 1, MPI_INT, next(), 9, comm, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&requests[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == previous());
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(int argc, char **argv) {
    static char buffer[modes * rounds * (MPI_BSEND_OVERHEAD + sizeof(int))];
    begin(&argc, &argv);
    MPI_Buffer_attach(buffer, sizeof buffer);
#pragma omp parallel
#pragma omp single
    for (int mode = 0; mode < modes; ++mode) {
        char order;
        (void)order;
#pragma omp task firstprivate(mode)
        receive(mode);
#pragma omp task firstprivate(mode) depend(out : order)
        send(mode);
    }
    ready_send();
    MPI_Finalize();
    return 0;
}
