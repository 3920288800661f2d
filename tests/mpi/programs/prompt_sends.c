/* SPDX-License-Identifier: Apache-2.0
 * One rank sends messages one after the other to a rank that waits for each. Many a send is over
 * only when the receiver has taken the message: long ones, synchronous ones, and more, by the MPI
 * library. Then the sender sleeps meanwhile, and has to be rung, however the receiver takes the
 * message. If nobody rings, each message takes the nap of a timer.
 *
 * A busy machine may disturb some batches of messages, but not all of them: the best batch counts,
 * and as soon as one is fast no more are sent.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>

enum { longest = 100000, messages = 20, batches = 1000 };
static const double nap = 1e-3;   /* seconds: the shortest */
static const double limit = 30.0; /* seconds, for one length */

static char buffer[longest];

static void receive(int length) {
    MPI_Recv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void receive_any(int length) {
    MPI_Recv(buffer, length, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void receive_probed(int length) {
    MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive(length);
}
static void receive_matched(int length) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(buffer, length, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}
static void receive_by_tests(int length) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    for (int over = 0; !over;)
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    void (*receive)(int length);
} kinds[] = {
    {"MPI_Recv", MPI_Send, receive},
    {"any source", MPI_Send, receive_any},
    {"MPI_Probe", MPI_Send, receive_probed},
    {"MPI_Mprobe", MPI_Send, receive_matched},
    {"MPI_Test", MPI_Send, receive_by_tests},
    {"MPI_Ssend", MPI_Ssend, receive},
    {"MPI_Ssend and MPI_Probe", MPI_Ssend, receive_probed},
    {"MPI_Ssend and MPI_Test", MPI_Ssend, receive_by_tests},
};

/* Seconds a message. */
static double batch(int rank, size_t kind, int length) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < messages; ++i) {
        if (rank == 0)
            kinds[kind].send(buffer, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else
            kinds[kind].receive(length);
    }
    double took = MPI_Wtime() - begin;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return took / messages;
}

static void check(int rank, size_t kind, int length) {
    double best = limit, all = 0;
    for (int done = 0; done < batches && all < limit && best > nap / 4; ++done) {
        const double took = batch(rank, kind, length);
        best = took < best ? took : best;
        all += took * messages;
    }
    if (rank == 0 && best > nap / 4)
        fprintf(stderr, "%s, %d bytes: %.0f us a message\n", kinds[kind].name, length, best * 1e6);
    CHECK(best <= nap / 4);
}

int main(int argc, char **argv) {
    static const int lengths[] = {0, 8, 257, 1000, 2048, 4000, 8000, 20000, longest};
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
            check(rank, kind, lengths[i]);
    if (rank == 0)
        printf("prompt\n");
    MPI_Finalize();
    return 0;
}
