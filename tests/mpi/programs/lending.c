/* SPDX-License-Identifier: Apache-2.0
 * build_once: -fopenmp -I{include} -- -ldl
 * once: mpi.lending.constant.together.{mpi} if="not sanitized" shape=2x2 SENNIT_LENDING=on
 *     SENNIT_DOORBELLS=on
 * once: mpi.lending.constant.apart.{mpi} if="not sanitized" shape=2x2 SENNIT_LENDING=on
 *     SENNIT_DOORBELLS=on -- apart
 * Cores move between two ranks, and nothing that a program sees of its threads changes: how many
 * there are, which ones, where they may run, and how many processors there are. `apart`: each rank
 * may run on one core only, another one than the other's, so no core can move. When MPI has ended,
 * the threads have the time slices that they had before it, and so do children.
 * usage: lending [apart] */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <sennit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2 };

static struct Seen {
    pid_t thread;
    cpu_set_t mask;
    int processors;
} first[THREADS];
static int mine;
#pragma omp threadprivate(mine)

static void look(struct Seen *seen) {
    memset(seen, 0, sizeof *seen);
    seen->thread = gettid();
    seen->processors = omp_get_num_procs();
    CHECK(sched_getaffinity(0, sizeof seen->mask, &seen->mask) == 0);
}

static void look_first(void) {
#pragma omp parallel num_threads(THREADS)
    {
        look(&first[omp_get_thread_num()]);
        mine = omp_get_thread_num() + 1;
    }
}

static void look_again(void) {
    CHECK(omp_get_max_threads() == THREADS);
#pragma omp parallel num_threads(THREADS)
    {
        struct Seen now;
        const struct Seen *const before = &first[omp_get_thread_num()];
        look(&now);
        CHECK(omp_get_num_threads() == THREADS);
        CHECK(now.thread == before->thread);
        CHECK(now.processors == before->processors);
        CHECK(CPU_EQUAL(&now.mask, &before->mask));
        CHECK(mine == omp_get_thread_num() + 1);
    }
}

/* In a region whose threads are all at work: does the process use a core of the other one? */
static int borrows(int (*get_state)(struct sennit_pool_state *)) {
    int borrowed = 0;
#pragma omp parallel num_threads(THREADS) reduction(max : borrowed)
    {
        const double end = omp_get_wtime() + 1e-3;
        while (omp_get_wtime() < end) {
        }
        struct sennit_pool_state state = {0};
        if (get_state && get_state(&state) == SENNIT_SUCCESS)
            borrowed = state.process.borrowed;
    }
    return borrowed > 0;
}

/* It becomes itself, on the core of its rank among those that it may use. */
static void run_apart(char **argv) {
    const char *number = getenv("PMI_RANK");
    number = number ? number : getenv("OMPI_COMM_WORLD_RANK");
    CHECK(number);
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    int skip = atoi(number) % CPU_COUNT(&all), core = 0;
    while (!CPU_ISSET(core, &all) || skip-- > 0)
        ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    argv[1] = NULL;
    execv("/proc/self/exe", argv);
    CHECK(!"exec");
}

/* Of the calling thread, in nanoseconds; 0: it has none. */
static unsigned long long time_slice(void) {
    struct {
        unsigned size, policy;
        unsigned long long flags;
        int nice;
        unsigned priority;
        unsigned long long runtime, deadline, period;
        unsigned least, most;
    } now;
    memset(&now, 0, sizeof now);
    CHECK(syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0);
    return now.runtime;
}

/* MPI has ended: of each thread, and of a child. */
static int slices_are(unsigned long long before) {
    int right = 1;
#pragma omp parallel num_threads(THREADS) reduction(&& : right)
    right = time_slice() == before;
    const pid_t child = fork();
    if (child == 0)
        _exit(time_slice() == before ? 0 : 1);
    int status = 1;
    return right && child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        run_apart(argv);
    const unsigned long long slice = time_slice();
    begin(&argc, &argv);
    int (*const get_state)(struct sennit_pool_state *) =
        (int (*)(struct sennit_pool_state *))dlsym(RTLD_DEFAULT, "sennit_pool_get_state");
    CHECK(ranks == 2);
    look_first();
    const int can_borrow = CPU_COUNT(&first[0].mask) >= 2;
    /* One waits for the other one, which computes until it has had both cores; then the other way.
     */
    for (int worker = 0; worker < 2; ++worker) {
        int done = 0;
        if (rank == worker) {
            while (!done) { /* the other one lends its core when it has come to its wait */
                look_again();
                done = !can_borrow || borrows(get_state);
            }
            MPI_Send(&done, 1, MPI_INT, next(), worker, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&done, 1, MPI_INT, next(), worker, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        look_again();
    }
    MPI_Finalize();
    if (slices_are(slice))
        return 0;
    fprintf(stderr, "time slices stay as they were while cores were shared\n");
    return 1;
}
