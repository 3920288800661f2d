/* SPDX-License-Identifier: Apache-2.0
 * A rank fiber whose main flow waits in OpenMP stays away from home, and other ranks go on
 * meanwhile. Two threads a rank, one processor for all ranks: what a main flow waits for is done by
 * the rank's other thread when the main flows of all ranks have come as far.
 *
 * A flow that waits at home, or goes there, costs its kernel thread a switch: that is counted. */
#define _GNU_SOURCE
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { TIMES = 20, MOST_SWITCHES = 4 };

static volatile int *steps; /* of each rank, in memory of all */
static int step;

static void hop(void) {
    int token = 0;
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
}

/* The other thread: until all ranks are there, and long enough for a flow to give up waiting awake.
 */
static void work(void) {
    for (int other = 0; other < ranks; ++other)
        while (steps[other] < step)
            usleep(100);
    usleep(3000);
}

static void region(int with_barrier) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            steps[rank] = step;
        else
            work();
        if (with_barrier) {
#pragma omp barrier
        }
    }
}
static void join(void) {
    region(0);
}
static void barrier(void) {
    region(1);
}

static omp_lock_t lock;
static void locked(void) {
#pragma omp parallel
    {
        const int other = omp_get_thread_num() == 1;
        if (other)
            omp_set_lock(&lock);
#pragma omp barrier
        if (other) {
            work();
        } else {
            steps[rank] = step;
            omp_set_lock(&lock);
        }
        omp_unset_lock(&lock);
    }
}

static void taskwait(void) {
    volatile int taken = 0;
#pragma omp parallel shared(taken)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task shared(taken)
            {
                taken = 1;
                if (omp_get_thread_num() != 0)
                    work();
            }
            while (!taken) {
#pragma omp taskyield
            }
            steps[rank] = step;
#pragma omp taskwait
        }
    }
}

static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void check(const char *name, void (*wait)(void)) {
    ++step;
    wait(); /* memory that it needs is there from now on */
    hop();
    const long before = switches();
    for (int i = 0; i < TIMES; ++i) {
        ++step;
        wait();
    }
    const long more = switches() - before;
    if (more > MOST_SWITCHES) {
        fprintf(stderr, "rank %d was at home %ld times in %d waits: %s\n", rank, more, TIMES, name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    omp_set_num_threads(2);
    omp_init_lock(&lock);
    int *memory = NULL;
    MPI_Win window;
    MPI_Aint bytes = rank == 0 ? ranks * (MPI_Aint)sizeof *memory : 0;
    MPI_Win_allocate_shared(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    int unit;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    steps = memory;
    if (rank == 0)
        for (int i = 0; i < ranks; ++i)
            steps[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    check("join", join);
    check("barrier", barrier);
    check("lock", locked);
    check("taskwait", taskwait);
    MPI_Win_free(&window);
    if (rank == 0)
        puts("away");
    MPI_Finalize();
    return 0;
}
