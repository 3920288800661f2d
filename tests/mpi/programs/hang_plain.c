/* SPDX-License-Identifier: Apache-2.0
 * build_once:
 * Jobs of two ranks that hang, and one that is slow, in a program of MPI alone: no OpenMP, and
 * MPI_Init. hang_plain <case>. Run by hang.py.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, value;
static MPI_Comm pair;

static void receive(int tag, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, tag, comm, MPI_STATUS_IGNORE);
}
static void send(int tag) {
    MPI_Ssend(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
}

/* Both receive first. */
static void both_receive(void) {
    receive(5, MPI_COMM_WORLD);
    send(5);
}

static void pair_receives(void) {
    receive(6, pair);
}

/* Between the two, who are alone on their sides. */
static void others_receive(void) {
    MPI_Comm alone, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - rank, 9, &both);
    MPI_Recv(&value, 1, MPI_INT, 0, 9, both, MPI_STATUS_IGNORE);
    MPI_Comm_free(&both);
    MPI_Comm_free(&alone);
}

static void missing_barrier(void) {
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Each waits for what the other one sends only afterwards. */
static void both_wait(void) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    send(7);
}

/* One computes, for longer than the grace time. */
static void slow_sender(void) {
    if (rank == 0) {
        receive(8, MPI_COMM_WORLD);
        return;
    }
    for (const double end = MPI_Wtime() + 4; MPI_Wtime() < end;) {
    }
    send(8);
}

/* On a communicator that has existed, for MPI, since the request was complete. */
static void copy_receives(void) {
    MPI_Comm copy;
    MPI_Request request;
    int other;
    MPI_Comm_idup(pair, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 10, copy, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"both_receive", both_receive},       {"pair_receives", pair_receives},
             {"missing_barrier", missing_barrier}, {"both_wait", both_wait},
             {"slow_sender", slow_sender},         {"threads_allowed", pair_receives},
             {"others_receive", others_receive},   {"copy_receives", copy_receives}};

int main(int argc, char **argv) {
    int provided;
    if (argc == 2 && strcmp(argv[1], "threads_allowed") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Query_thread(&provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    if (rank == 0)
        printf("done, thread level %s\n",
               provided == MPI_THREAD_MULTIPLE ? "multiple" : "as asked");
    MPI_Comm_free(&pair);
    MPI_Finalize();
    return 0;
}
