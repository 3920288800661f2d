/* SPDX-License-Identifier: Apache-2.0
 * eager: apps.rendezvous.{mpi} fail='in vain'
 * eager: apps.rendezvousany.{mpi} pass='a receive has to name its sender' -- any
 * eager: apps.rendezvousprobe.{mpi}
 *     pass='1 messages of rank 0 have waited for one in vain, and go' -- probe
 *
 * SENNIT_NETWORK with eager: a long message does not leave before its receive has been called, a
 * short one does, and neither passes the other where they have one tag. With "any": a receive from
 * anybody; with "probe": a message that is looked for before it is received. Such a network knows
 * neither.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { length = 1 << 14 };

static double data[length], more[length];
static int wrong;

/* Of the clock that both ranks have: they are on one machine. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        wrong = 1;
    }
}

static void send_all(void) {
    double called = 0;
    MPI_Send(data, length, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    const double left = now();
    MPI_Send(data, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); /* must not wait for the barrier */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&called, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(left >= called, "a long message left before its receive was called");
    MPI_Request requests[3];
    for (int i = 0; i < length; ++i)
        data[i] = 1.0;
    more[0] = 2.0;
    MPI_Isend(data, length, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(more, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(data, length, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 3; ++i)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void receive_all(void) {
    const struct timespec pause = {0, 250000000};
    nanosleep(&pause, NULL);
    const double called = now();
    MPI_Recv(data, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&called, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
    MPI_Recv(data, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* Another order of tags than the sender's. */
    MPI_Recv(data, length, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int count = 0;
    MPI_Status status;
    MPI_Recv(data, length, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(count == length && data[length - 1] == 1.0, "the short message came first");
    MPI_Recv(data, length, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(count == 1 && data[0] == 2.0, "the short message is another");
}

/* The other's long message may leave because of Sendrecv's receive, too. */
static void exchange(int rank) {
    for (int i = 0; i < length; ++i)
        data[i] = rank;
    MPI_Status status;
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(data, length, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Recv(more, length, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv(data, length, MPI_DOUBLE, 0, 5, more, length, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD,
                     &status);
    }
    check(more[0] == 1 - rank && more[length - 1] == 1 - rank && status.MPI_SOURCE == 1 - rank,
          "Sendrecv received something else");
}

static void probe(int rank) {
    MPI_Message message;
    if (rank == 0)
        MPI_Send(data, length, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    else {
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, length, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    int provided = 0, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        probe(rank);
    else if (argc > 1 && rank == 1)
        MPI_Recv(data, length, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 0)
        send_all();
    else
        receive_all();
    if (argc == 1)
        exchange(rank);
    MPI_Finalize();
    return wrong;
}
