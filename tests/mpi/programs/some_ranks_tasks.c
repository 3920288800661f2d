/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x2|3x1
 * chaos: number=29
 * paired: mpi.collectives_inside_and_outside.{mpi}.n{ranks}t{threads} if="not sanitized"
 *     shape=2x2|4x1 SENNIT_COLLECTIVES=nonblocking -- inside # some call them in tasks and others
 *     outside of any: all of them are non-blocking then
 * Collectives outside of tasks, where some ranks have tasks that are unfinished, others have had
 * some, and others never had any: they meet all the same. With the argument "inside" some ranks
 * call them in a task, too. */
#include "collective_cases.h"

#include <omp.h>
#include <string.h>

enum position { without, after, beside, inside };
static int positions = 3;
enum { most_threads = 8 };

/* The same position comes to each rank in turn, and no two neighbors have the same. */
static enum position position_in(int round) {
    return (enum position)((rank + round) % positions);
}

static void communicators(MPI_Comm comm) {
    MPI_Comm twin, half, ring;
    const int periodic = 1;
    int sum = 0, from[2] = {-1, -1};
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_split(twin, rank % 2, rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK(rank % 2 || sum == (ranks - 1) / 2 * ((ranks - 1) / 2 + 1));
    MPI_Cart_create(twin, 1, &ranks, &periodic, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, ring);
    CHECK(from[0] == previous() && from[1] == next());
    const int to[2] = {10 * rank, 10 * rank + 1};
    MPI_Neighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, ring);
    CHECK(from[0] == 10 * previous() + 1 && from[1] == 10 * next());
    MPI_Comm_free(&ring);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
}

static void window(MPI_Comm comm) {
    MPI_Win win;
    IN_WINDOW int memory = -1;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next(), 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory == previous());
    MPI_Win_free(&win);
}

static void all_of_them(MPI_Comm comm, int threads) {
    for (int which = 0; which < collectives; ++which)
        run(which, comm);
    if (threads > 1) /* Open MPI 4.1 may deadlock in itself */
        return;
    communicators(comm);
    window(comm);
}

static void at(enum position position, MPI_Comm comm, int tag, int threads) {
    int received = -1;
    if (position == inside) {
#pragma omp task
        all_of_them(comm, threads);
#pragma omp taskwait
        return;
    }
    if (position == after) {
#pragma omp task shared(received)
        received = tag;
#pragma omp taskwait
    }
    if (position == beside) {
#pragma omp task shared(received)
        MPI_Recv(&received, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    all_of_them(comm, threads);
    if (position == beside) {
        MPI_Request request;
        MPI_Isend(&tag, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &request);
#pragma omp taskwait
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(position == without || received == tag);
}

int main(int argc, char **argv) {
    MPI_Comm comms[most_threads];
    begin(&argc, &argv);
    prepare();
    if (argc > 1 && strcmp(argv[1], "inside") == 0)
        positions = 4;
    for (int i = 0; i < most_threads; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    /* Without a region: no barrier ends these tasks. */
    for (int round = 0; round < positions; ++round)
        at(position_in(round), comms[0], round, 1);
    for (int round = 0; round < positions; ++round) {
#pragma omp parallel
#pragma omp master
        at(position_in(round), comms[0], round, 1);
#pragma omp parallel
#pragma omp single
        at(position_in(round), comms[0], round, 1);
        /* Every thread, on its own communicator. */
#pragma omp parallel
        {
            const int thread = omp_get_thread_num();
            if (thread < most_threads)
                at(position_in(round + thread), comms[thread], positions + thread, 2);
        }
    }
    for (int i = 0; i < most_threads; ++i)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
