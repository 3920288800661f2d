/* SPDX-License-Identifier: Apache-2.0
 * More ranks than cores: what a hop between ranks costs, a collective, and a step of a program that
 * computes and exchanges. usage: crowd hop|allreduce|bcast|bcasts|reduce|reduces|halo COUNT; prints
 * ns per unit, best of five.
 *
 * crowd wait MS: all but the first rank wait so long for a message; prints how many thousandths of
 * a core the one that took most had meanwhile.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, ranks;
static volatile double sink;

/* A token around the ring, `count` hops in all. */
static void hop(int count) {
    int token = 0;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < count / ranks; ++i) {
        if (rank == 0)
            MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    }
}

static void allreduce(int count) {
    double mine = rank, all = 0;
    for (int i = 0; i < count; ++i)
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* By each rank in its turn: the next root has to have what the one before has sent. */
static void bcast(int count) {
    double value = 1;
    for (int i = 0; i < count; ++i)
        MPI_Bcast(&value, 1, MPI_DOUBLE, i % ranks, MPI_COMM_WORLD);
}

/* All by rank 0, which may run ahead. */
static void bcasts(int count) {
    double value = 1;
    for (int i = 0; i < count; ++i)
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* To each rank in its turn: who is not the root may go on. */
static void reduce(int count) {
    double mine = rank, all = 0;
    for (int i = 0; i < count; ++i)
        MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, i % ranks, MPI_COMM_WORLD);
}

/* All to rank 0: the others may run ahead. */
static void reduces(int count) {
    double mine = rank, all = 0;
    for (int i = 0; i < count; ++i)
        MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* Some 100 us of work, then both neighbours. */
static void halo(int count) {
    static double out[2][512], in[2][512];
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int k = 0; k < 100000; ++k)
            sum += k * 1e-9;
        sink = sum;
        MPI_Request requests[4];
        MPI_Status statuses[4];
        MPI_Irecv(in[0], 512, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in[1], 512, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out[0], 512, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out[1], 512, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, statuses);
    }
}

static double processor_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void wait_for_message(int ms) {
    int token = 0;
    double part = 0, most = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep((useconds_t)ms * 1000);
        for (int other = 1; other < ranks; ++other)
            MPI_Send(&token, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
    } else {
        const double begin = MPI_Wtime(), used = processor_seconds();
        MPI_Recv(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        part = (processor_seconds() - used) / (MPI_Wtime() - begin);
    }
    MPI_Reduce(&part, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f\n", most * 1e3);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *row = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(row, "wait") == 0 && count > 0) {
        wait_for_message(count);
        MPI_Finalize();
        return 0;
    }
    void (*const run)(int) = strcmp(row, "hop") == 0         ? hop
                             : strcmp(row, "allreduce") == 0 ? allreduce
                             : strcmp(row, "bcast") == 0     ? bcast
                             : strcmp(row, "bcasts") == 0    ? bcasts
                             : strcmp(row, "reduce") == 0    ? reduce
                             : strcmp(row, "reduces") == 0   ? reduces
                             : strcmp(row, "halo") == 0      ? halo
                                                             : NULL;
    if (!run || count < ranks) {
        if (rank == 0)
            fprintf(stderr, "usage: crowd hop|allreduce|bcast|bcasts|reduce|reduces|halo COUNT, at "
                            "least as many "
                            "as ranks; crowd wait MS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    count -= count % ranks;
    double best = 0;
    for (int i = 0; i < 5; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        run(count);
        MPI_Barrier(MPI_COMM_WORLD);
        const double took = (MPI_Wtime() - begin) / count;
        if (best == 0 || took < best)
            best = took;
    }
    if (rank == 0)
        printf("%.0f\n", best * 1e9);
    MPI_Finalize();
    return 0;
}
