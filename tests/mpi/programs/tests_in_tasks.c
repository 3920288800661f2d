/* SPDX-License-Identifier: Apache-2.0
 * build_once: -fopenmp -rdynamic
 * once: mpi.{program}.{mpi} shape=3x1 SENNIT_DOORBELLS=on
 * Tasks that wait by tests of their own, where ranks outnumber cores: they leave the core to other
 * ranks, as tests outside of tasks do. Two of them on one thread do so, too, although each always
 * finds the other one ready. Counted, not timed: the program stands in front of sched_yield(). A
 * thread that has yielded for long sleeps instead, so some yields are enough. */
#define _GNU_SOURCE
#include "check.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TESTS = 10000, FEWEST = 10 };

static atomic_long yields;

int sched_yield(void) {
    atomic_fetch_add(&yields, 1);
    return (int)syscall(SYS_sched_yield);
}

/* In vain: nobody sends. */
static void test_in_vain(int by_probe, MPI_Request *request) {
    for (int i = 0; i < TESTS; ++i) {
        int found = 0;
        if (by_probe)
            MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        else
            MPI_Test(request, &found, MPI_STATUS_IGNORE);
        CHECK(!found);
    }
}

/* How often the thread yields while `tasks` tasks test. */
static long yields_of(int tasks, MPI_Request *request) {
    const long before = atomic_load(&yields);
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
        test_in_vain(i % 2, request);
    }
    return atomic_load(&yields) - before;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int value = -1;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, previous(), 6, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = atomic_load(&yields);
    test_in_vain(0, &request);
    const long outside = atomic_load(&yields) - before;
    const long one = yields_of(1, &request), two = yields_of(2, &request);
    fprintf(stderr, "rank %d: %ld outside, %ld of a task, %ld of two\n", rank, outside, one, two);
    CHECK(outside >= FEWEST && one >= FEWEST && two >= FEWEST);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(&rank, 1, MPI_INT, next(), 6, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == previous());
    MPI_Finalize();
    return 0;
}
