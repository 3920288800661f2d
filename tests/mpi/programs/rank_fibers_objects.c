/* SPDX-License-Identifier: Apache-2.0
 * build_once: if=rank_fibers -fPIE -pie -fopenmp -I{include} -- {homecomings} {balance} -lm
 *     {rpath}
 * build_once: if=rank_fibers out={bin}/rank_fibers_openmp_objects-{mpi} -fPIE -pie -fopenmp
 *     -DWITH_OPENMP -I{include} -- {homecomings} {balance} -lm {rpath}
 * What a rank fiber works for an object is the object's, on whichever kernel threads it has run: on
 * a worker after a wait between sennit_object_begin() and _end(), at home after a system call, and
 * on both in turns. To read the time does not bring it home. */
#define _GNU_SOURCE
#include "check.h"
#include "homecomings.h"
#include "sennit_balance.h"

#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <unistd.h>

/* MOST: there may be no memory left without a system call. TURNS: a millisecond or so. */
enum { TIMES = 20, MOST = 2, TURNS = 400000, HEAVY = 3 };

static int (*work_time)(uint64_t *); /* sennit_work_time() */

/* Rank 0 has more. Not by a clock of processor time, which would bring the rank home. */
static void work(void) {
    for (int turn = 0; turn < (rank == 0 ? HEAVY : 1) * TURNS; ++turn)
        __asm__ volatile("" ::: "memory");
}

static void away(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    work();
}
static void at_home(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    getppid();
    work();
}
static void on_both(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    work();
    getppid();
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    work();
}

/* Without Sennit's runtime the objects' library measures by itself. */
static double task_time(void) {
    uint64_t ns = 0;
    if (work_time)
        CHECK(work_time(&ns) == 0);
    return (double)ns;
}

/* How much more the one with most has than the mean. */
static double over_mean(double mine) {
    double all = 0, most = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most * ranks / all;
}

/* The load of the ranks' objects and the time of their tasks are those of the work. */
static void check(sennit_objects *set, const char *name, void (*step)(void)) {
    int times_away = 0;
    long by_reading = 0; /* so often the rank came home for it */
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = task_time();
    for (int i = 0; i < TIMES; ++i) {
        by_reading -= homecomings();
        CHECK(sennit_object_begin(set, rank) == MPI_SUCCESS);
        by_reading += homecomings();
        step();
        times_away += is_away();
        by_reading -= homecomings();
        CHECK(sennit_object_end(set, rank) == MPI_SUCCESS);
        by_reading += homecomings();
    }
    const double worked = task_time() - begun;
    sennit_balance_info info;
    CHECK(sennit_balance(set, &info) == MPI_SUCCESS);
    const double expected = (double)HEAVY * ranks / (HEAVY + ranks - 1);
    const double found = 1 + info.imbalance;
    const double of_tasks = work_time ? over_mean(worked) : expected;
    if (rank == 0)
        fprintf(stderr, "%s: %.2f, by tasks %.2f of %.2f; home %ld times, away %d times\n", name,
                found, of_tasks, expected, by_reading, times_away);
    CHECK(fabs(found - expected) < 0.3 * expected);
    CHECK(fabs(of_tasks - expected) < 0.3 * expected);
    CHECK(homecomings() >= 0 && by_reading <= MOST);
    MPI_Allreduce(MPI_IN_PLACE, &times_away, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(step != away || times_away >= TIMES / 2); /* who comes last does not wait */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    sennit_objects *set = NULL;
    work_time = (int (*)(uint64_t *))dlsym(RTLD_DEFAULT, "sennit_work_time");
#ifdef WITH_OPENMP
    CHECK(work_time && omp_get_max_threads() == 1);
#else
    CHECK(!work_time);
#endif
    CHECK(sennit_objects_create(MPI_COMM_WORLD, ranks, SENNIT_OBJECT_MEMORY, &set) == MPI_SUCCESS);
    CHECK(sennit_objects_add_memory(set, rank, malloc(1), 1) == MPI_SUCCESS);
    CHECK(sennit_objects_commit(set) == MPI_SUCCESS);
    CHECK(sennit_balance_strategy(set, "none") == MPI_SUCCESS);
    check(set, "away", away);
    check(set, "at home", at_home);
    check(set, "on both", on_both);
    CHECK(sennit_objects_free(&set) == MPI_SUCCESS);
    if (rank == 0)
        puts("objects");
    MPI_Finalize();
    return 0;
}
