/* SPDX-License-Identifier: Apache-2.0
 * Threads of one process hand memory to each other by messages: one uses the buffer of the second
 * receive until it sends the first message. */
// stock
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int go, shared;

static void *other(void *nothing) {
    usleep(50000);
    shared = 9;
    MPI_Send(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return nothing;
}

__attribute__((noinline)) static void receive(int *flag, int *number) {
    MPI_Recv(flag, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int level, rank, bad = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level >= MPI_THREAD_MULTIPLE && rank == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, other, NULL);
        receive(&go, &shared);
        bad = shared != 5;
        pthread_join(thread, NULL);
    } else if (level >= MPI_THREAD_MULTIPLE) {
        const int five = 5;
        MPI_Send(&five, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    if (bad)
        fprintf(stderr, "rank %d: %d instead of what was received last\n", rank, shared);
    MPI_Finalize();
    return bad;
}
