/* SPDX-License-Identifier: Apache-2.0
 * Blocking calls in a row, for bench/plugin.py: compiled with the plug-in and without.
 *
 *     batched-calls latency|by-hand COUNT
 *         from rank 0 to rank 1: COUNT messages in a loop, by blocking calls or by others. Prints
 * the nanoseconds from the first call to the last end, for each round batched-calls refused COUNT
 * receives from nobody, in a loop that cannot be batched batched-calls nobody COUNT     sends to
 * nobody, in one that is
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 30, LENGTH = 1024, MOST = 1000 };
static double buffers[MOST][LENGTH];
static int refused_rounds;

__attribute__((noinline)) static void unknown(void) {
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void send_all(int count, int to) {
    for (int i = 0; i < count; ++i)
        MPI_Send(buffers[i % MOST], LENGTH, MPI_DOUBLE, to, i, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void receive_all(int count, int from) {
    for (int i = 0; i < count; ++i)
        MPI_Recv(buffers[i % MOST], LENGTH, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void refused(int count) {
    for (int i = 0; i < count; ++i) {
        MPI_Recv(buffers[i % MOST], LENGTH, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        unknown();
        ++refused_rounds;
    }
}

static MPI_Request requests[MOST];

__attribute__((noinline)) static void send_by_hand(int count, int to) {
    for (int i = 0; i < count; ++i)
        MPI_Isend(buffers[i % MOST], LENGTH, MPI_DOUBLE, to, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static void receive_by_hand(int count, int from) {
    for (int i = 0; i < count; ++i)
        MPI_Irecv(buffers[i % MOST], LENGTH, MPI_DOUBLE, from, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void latency(int count, void (*send)(int, int), void (*receive)(int, int)) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (rank == 0)
            send(count, 1);
        else
            receive(count, 0);
        double took = MPI_Wtime() - start, longest;
        MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%.0f\n", 1e9 * longest);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    if (count > 0 && strcmp(argv[1], "latency") == 0 && count <= MOST)
        latency(count, send_all, receive_all);
    else if (count > 0 && strcmp(argv[1], "by-hand") == 0 && count <= MOST)
        latency(count, send_by_hand, receive_by_hand);
    else if (count > 0 && strcmp(argv[1], "refused") == 0)
        refused(count);
    else if (count > 0 && strcmp(argv[1], "nobody") == 0)
        send_all(count, MPI_PROC_NULL);
    else
        fputs("usage: batched-calls latency|by-hand|refused|nobody COUNT\n", stderr);
    MPI_Finalize();
    return refused_rounds < 0;
}
