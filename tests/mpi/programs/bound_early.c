/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=2x1 # no other thread of the rank, which would wait for MPI's lock
 * paired: mpi.bound_early.doorbells.{mpi} shape=2x1 SENNIT_DOORBELLS=on # tasks that bind what is
 *     not over yet
 * A task binds many operations that are not over yet. Each is tested once, which is no waiting: the
 * task's thread keeps its processor also where ranks outnumber cores. */
#define _GNU_SOURCE
#include "check.h"

#include <TAMPI.h>
#include <sys/resource.h>

enum { OPERATIONS = 4000, NAPS = OPERATIONS / 16 };

static int got[OPERATIONS];

static long naps(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

static void bind_all(void) {
    int go = 1;
    const long before = naps();
    for (int i = 0; i < OPERATIONS; ++i)
        CHECK(TAMPI_Irecv(&got[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
    const long slept = naps() - before;
    if (slept > NAPS)
        fprintf(stderr, "the thread slept %ld times\n", slept);
    CHECK(slept <= NAPS);
    MPI_Send(&go, 1, MPI_INT, 1, OPERATIONS, MPI_COMM_WORLD);
}

static void send_all(void) {
    int go = 0;
    MPI_Recv(&go, 1, MPI_INT, 0, OPERATIONS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(go == 1);
    for (int i = 0; i < OPERATIONS; ++i)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    {
        if (rank == 0) {
#pragma omp task
            bind_all();
        } else if (rank == 1) {
#pragma omp task
            send_all();
        }
    }
    for (int i = 0; rank == 0 && i < OPERATIONS; ++i)
        CHECK(got[i] == i);
    MPI_Finalize();
    return 0;
}
