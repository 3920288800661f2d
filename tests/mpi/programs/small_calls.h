/* SPDX-License-Identifier: Apache-2.0
 * For programs of small collective calls: many of them in a random order, tasks that make them, and
 * the communicators on which all of it is done. */
#ifndef SMALL_CALLS_H
#define SMALL_CALLS_H

#include "check.h"

#include <stdbool.h>

/* Any order of calls, the same on all ranks. */
static inline void mixture_on(MPI_Comm comm, unsigned seed) {
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < 300; ++i) {
        seed = seed * 1103515245u + 12345u;
        const int what = (int)(seed >> 16) % 10, root = (int)(seed >> 20) % size;
        const int count = what < 5 ? 1 : 1 + (int)(seed >> 24) % 66;
        int value = own == root ? i : -1, sum = -1, in[66], out[66];
        static char many[1000];
        if (what == 0)
            MPI_Barrier(comm);
        else if (what == 1) {
            MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
            CHECK(sum == size * (size - 1) / 2);
        } else if (what == 2) {
            many[999] = (char)value;
            MPI_Bcast(many, 1000, MPI_CHAR, root, comm);
            CHECK(many[999] == (char)i);
        } else if (what < 6) {
            for (int k = 0; k < count; ++k)
                in[k] = own + i * k;
            MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
            for (int k = 0; k < count && own == root; ++k)
                CHECK(out[k] == size * (size - 1) / 2 + size * i * k);
        } else {
            MPI_Bcast(&value, 1, MPI_INT, root, comm);
            CHECK(value == i);
        }
    }
}

typedef void OnCommunicator(MPI_Comm comm);

/* On those of one node, those that reach both, and all. */
static inline void on_two_nodes(OnCommunicator *all_on) {
    MPI_Comm node, across;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, -rank, &node);
    MPI_Comm_split(MPI_COMM_WORLD, rank % (ranks / 2), 0, &across);
    all_on(node);
    all_on(across);
    all_on(MPI_COMM_WORLD);
    MPI_Comm_free(&across);
    MPI_Comm_free(&node);
}

static inline void on_all_and_half(OnCommunicator *all_on) {
    MPI_Comm half;
    all_on(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    all_on(half);
    MPI_Comm_free(&half);
}

typedef bool IsRight(MPI_Comm comm, int root, int round);

/* Makes a call in each round, on a communicator for each task. */
static inline void in_tasks(IsRight *is_right) {
    enum { TASKS = 4, ROUNDS = 40 };
    MPI_Comm comms[TASKS] = {MPI_COMM_WORLD};
    for (int i = 1; i < TASKS; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    int right[TASKS] = {0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; ++i) {
#pragma omp task firstprivate(i) shared(comms, right)
        for (int round = 0; round < ROUNDS; ++round) {
            right[i] += is_right(comms[i], (round / 3 + i) % ranks, round);
            if (round % 7 == i)
                MPI_Barrier(comms[i]);
        }
    }
    for (int i = 0; i < TASKS; ++i)
        CHECK(right[i] == ROUNDS);
    for (int i = 1; i < TASKS; ++i)
        MPI_Comm_free(&comms[i]);
}

#endif
