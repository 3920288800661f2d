/* SPDX-License-Identifier: Apache-2.0
 * rank: -fopenmp
 * Two ranks with two threads that hold times instead of computing, so that their efficiency is
 * known. In each of ten steps, the phase "steps":
 *   rank 0   both threads 40 ms
 *   rank 1   20 and 10 ms, then it waits for rank 0 in MPI_Barrier
 * With "tasks" the ranks wait in a task, and one thread runs another task of 20 ms meanwhile. */
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of sennit.h; without Sennit they are not there. */
__attribute__((weak)) void sennit_trace_begin(const char *name, int peer, int tag, uint64_t bytes);
__attribute__((weak)) void sennit_trace_end(void);

/* Not by libc's function, which would suspend a task: a kernel that computes does not. */
static void hold(int milliseconds) {
    struct timespec time = {0, milliseconds * 1000000L};
    syscall(SYS_nanosleep, &time, NULL);
}

static void step(int rank) {
#pragma omp parallel num_threads(2)
    hold(rank == 0 ? 40 : omp_get_thread_num() == 0 ? 20 : 10);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 receives for 40 ms; its other task takes 20 of these. */
static void step_in_tasks(int rank) {
    int data = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        if (rank == 0) {
#pragma omp task shared(data)
            {
                hold(40);
                MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            }
#pragma omp task
            hold(40);
        } else {
#pragma omp task shared(data)
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
            hold(20);
        }
    }
}

int main(int count, char **arguments) {
    const int in_tasks = count > 1 && strcmp(arguments[1], "tasks") == 0;
    int level;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    hold(1); /* the threads are there */
    MPI_Barrier(MPI_COMM_WORLD);
    if (sennit_trace_begin)
        sennit_trace_begin("steps", -1, -1, 0);
    for (int i = 0; i < 10; ++i)
        (in_tasks ? step_in_tasks : step)(rank);
    if (sennit_trace_end)
        sennit_trace_end();
    MPI_Finalize();
    return 0;
}
