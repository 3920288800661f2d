/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test:
 * chaos: number=25
 * Tasks of alpi_task_spawn whose completion callbacks block in MPI: at the end of the body, and
 * when the last event of a body that has ended is fulfilled by whoever finds its message. The
 * ranks' tasks are complete in opposite orders, and each callback needs that of its neighbours. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "check.h"

#include <TAMPI.h>
#include <alpi.h>
#include <dlfcn.h>
#include <stdatomic.h>

enum { tasks = 8, trigger = 100 };

static int (*spawn)(void (*)(void *), void *, void (*)(void *), void *, const char *,
                    const struct alpi_attr *);
static int (*wait_ns)(uint64_t, uint64_t *);

static atomic_int begun, completed;
static int numbers[tasks], tokens[tasks];

static void body(void *number) {
    (void)number;
    atomic_fetch_add(&begun, 1);
}

static void bound_body(void *number) {
    const int i = *(const int *)number;
    MPI_Request request;
    MPI_Irecv(&tokens[i], 1, MPI_INT, previous(), trigger + i, MPI_COMM_WORLD, &request);
    CHECK(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    atomic_fetch_add(&begun, 1);
}

static void talk(void *number) {
    const int i = *(const int *)number;
    int got = -1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &request);
    MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == i);
    atomic_fetch_add(&completed, 1);
}

static int own_order(int i) {
    return rank % 2 ? i : tasks - 1 - i;
}

static void spawn_all(int bound) {
    atomic_store(&begun, 0);
    atomic_store(&completed, 0);
    for (int k = 0; k < tasks; ++k) {
        const int i = own_order(k);
        numbers[i] = i;
        tokens[i] = -1;
        CHECK(spawn(bound ? bound_body : body, &numbers[i], talk, &numbers[i], "spawned", NULL) ==
              ALPI_SUCCESS);
    }
    while (atomic_load(&begun) < tasks)
        wait_ns(100000, NULL);
    for (int k = 0; k < tasks && bound; ++k) {
        const int i = own_order(k);
        MPI_Send(&i, 1, MPI_INT, next(), trigger + i, MPI_COMM_WORLD);
    }
    while (atomic_load(&completed) < tasks)
        wait_ns(100000, NULL);
    for (int i = 0; i < tasks; ++i)
        CHECK(tokens[i] == (bound ? i : -1));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    *(void **)&spawn = dlsym(RTLD_DEFAULT, "alpi_task_spawn");
    *(void **)&wait_ns = dlsym(RTLD_DEFAULT, "alpi_task_waitfor_ns");
    CHECK(spawn && wait_ns);
    for (int bound = 0; bound < 2; ++bound) {
        spawn_all(bound);
#pragma omp parallel
#pragma omp single
#pragma omp task
        spawn_all(bound);
    }
    MPI_Finalize();
    return 0;
}
