/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1 virtual=0 SENNIT_POLICY=fa with_assertions=2x1 # which orders long sends
 * chaos: number=32
 * Messages that tasks of one thread send one after another with one tag arrive in that order,
 * whatever the policy does with long ones: by blocking, non-blocking and persistent sends and by
 * Sendrecv. */
#include "check.h"

enum { kMessages = 60, kLong = 20000 };
static int messages[kMessages][kLong];
static int sent;

static void send(int i) {
    const int order = sent++, peer = 1;
    int *const message = messages[order];
    const int length = i % 5 == 4 ? 1 : kLong;
    MPI_Request request;
    message[0] = order;
    if (i % 15 == 4) {
        MPI_Isend(message, length, MPI_INT, peer, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (i % 15 == 9) {
        MPI_Send_init(message, length, MPI_INT, peer, 7, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (i % 15 == 13) {
        MPI_Sendrecv(message, length, MPI_INT, peer, 7, NULL, 0, MPI_INT, MPI_PROC_NULL, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(message, length, MPI_INT, peer, 7, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (rank == 0) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < kMessages; ++i) {
#pragma omp task firstprivate(i) priority(i % 3)
            send(i);
        }
    } else {
        for (int i = 0; i < kMessages; ++i) {
            MPI_Recv(messages[i], kLong, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(messages[i][0] == i);
        }
    }
    MPI_Finalize();
    return 0;
}
