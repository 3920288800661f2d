/* SPDX-License-Identifier: Apache-2.0
 * test: threads=2|4|8 SENNIT_SPLIT=inner OMP_CANCELLATION=true
 * test: variant=auto threads=2|4 SENNIT_SPLIT=auto OMP_CANCELLATION=true
 * test: variant=off threads=2 OMP_CANCELLATION=true
 *
 * sennit_inner_regions.c - regions in tasks and in other regions under SENNIT_SPLIT=inner: each has
 * one thread or as many as it asks for, and all of OpenMP works in it. Idle workers help.
 */
#include "check.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

enum { kMost = 64, kLoop = 200, kTries = 2000 };

static int g_cuts; /* are inner regions cut? */
static int g_usual;

static void check_size(int asked) {
    const int threads = omp_get_num_threads();
    CHECK(threads == 1 || (g_cuts && threads == asked));
}

static long work(long i) {
    volatile long x = i;
    for (long k = 0; k < i % 64; ++k)
        x += k;
    return x - (i % 64) * (i % 64 - (i % 64 > 0)) / 2;
}

/* What the routines tell is one story. */
static void levels(void) {
    const int outer = omp_get_level(), active = omp_get_active_level(), me = omp_get_thread_num();
    int times[kMost] = {0};
    int size = 0;
#pragma omp parallel
    {
        check_size(g_usual);
        const int inner = omp_get_thread_num();
        CHECK(inner >= 0 && inner < omp_get_num_threads());
        CHECK_EQ(omp_get_level(), outer + 1);
        CHECK_EQ(omp_get_active_level(), active + (omp_get_num_threads() > 1));
        CHECK_EQ(omp_get_ancestor_thread_num(outer), me);
        CHECK_EQ(omp_get_ancestor_thread_num(outer + 1), inner);
        CHECK_EQ(omp_get_team_size(outer + 1), omp_get_num_threads());
        CHECK_EQ(omp_in_parallel(), omp_get_active_level() > 0);
        if (inner == 0)
            size = omp_get_num_threads();
#pragma omp atomic
        ++times[inner];
    }
    for (int i = 0; i < kMost; ++i)
        CHECK_EQ(times[i], i < size);
    CHECK_EQ(omp_get_level(), outer);
    CHECK_EQ(omp_get_thread_num(), me);
}

static void loops(void) {
    long sum = 0, last = -1, at = 0;
    long cell[kLoop] = {0}, order[kLoop];
#pragma omp parallel for reduction(+ : sum) lastprivate(last)
    for (long i = 0; i < kLoop; ++i) {
        sum += work(i);
        last = 3 * i;
    }
    CHECK_EQ(sum, (long)kLoop * (kLoop - 1) / 2);
    CHECK_EQ(last, 3 * (kLoop - 1));
#pragma omp parallel num_threads(3)
    {
        check_size(3);
#pragma omp for schedule(dynamic, 2) nowait
        for (long i = 0; i < kLoop; ++i)
            cell[i] += work(i);
#pragma omp for schedule(guided)
        for (long i = 0; i < kLoop; ++i) /* others may still be in the loop before */
            order[i] = -1;
#pragma omp for ordered schedule(static, 3)
        for (long i = 0; i < kLoop; ++i) {
            const long x = work(i);
#pragma omp ordered
            order[at++] = x;
        }
    }
    for (long i = 0; i < kLoop; ++i) {
        CHECK_EQ(cell[i], i);
        CHECK_EQ(order[i], i);
    }
}

static void threads_meet(void) {
    int come = 0, done = 0, seen = -1, count = 0;
#pragma omp parallel num_threads(4)
    {
        const int all = omp_get_num_threads();
        for (int round = 1; round <= 3; ++round) {
#pragma omp critical(inner_regions)
            ++come;
#pragma omp barrier
            CHECK_EQ(come, round * all);
#pragma omp barrier
        }
#pragma omp task shared(done)
        {
#pragma omp atomic
            ++done;
        }
#pragma omp taskwait
        int mine = -1;
#pragma omp single copyprivate(mine)
        mine = 7;
        CHECK_EQ(mine, 7);
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            ++count;
#pragma omp section
#pragma omp atomic
            count += 10;
#pragma omp section
#pragma omp atomic
            count += 100;
        }
        CHECK_EQ(count, 111);
#pragma omp masked
        seen = omp_get_thread_num();
#pragma omp barrier
        CHECK_EQ(seen, 0);
        /* Left for the join. */
#pragma omp task shared(done)
        {
#pragma omp taskyield
#pragma omp atomic
            done += 100;
        }
#pragma omp master
        come = all;
    }
    CHECK_EQ(done, 101 * come);
}

static void cancelled(void) {
    int ended = 0;
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp atomic
        ++ended;
    }
    CHECK_EQ(ended, 0);
}

/* Of each region in a region, too. */
static long deep(int depth) {
    long leaves = 0;
    if (depth == 0)
        return 1;
#pragma omp parallel num_threads(2) reduction(+ : leaves)
    {
        check_size(2);
#pragma omp for
        for (int i = 0; i < 2; ++i)
            leaves += deep(depth - 1);
    }
    return leaves;
}

/* A thread waits awake for all others, which may not have begun. */
static void spins(void) {
    atomic_int come = 0;
#pragma omp parallel num_threads(3)
    {
        atomic_fetch_add(&come, 1);
        while (atomic_load(&come) < omp_get_num_threads()) {
        }
    }
    CHECK(atomic_load(&come) == 1 || atomic_load(&come) == 3);
}

static void all(void) {
    levels();
    loops();
    threads_meet();
    cancelled();
    CHECK_EQ(deep(4), 16);
}

static void in_one_task(void (*what)(void)) {
#pragma omp parallel num_threads(g_usual)
#pragma omp single
#pragma omp task
    what();
}

static void in_many_tasks(void) {
#pragma omp parallel num_threads(g_usual)
#pragma omp single
    for (int i = 0; i < 30; ++i) {
#pragma omp task
        all();
    }
}

static void in_all_threads(void) {
#pragma omp parallel num_threads(g_usual)
    all();
}

/* The threads of a region in a task that sleep: other workers have nothing else to do. */
static int helpers_of_one_region(void) {
    int others = 0;
#pragma omp parallel num_threads(g_usual) shared(others)
#pragma omp single
#pragma omp task shared(others)
    {
        const long me = syscall(SYS_gettid);
#pragma omp parallel for num_threads(8) schedule(static) reduction(+ : others)
        for (int i = 0; i < 8; ++i) {
            usleep(1000);
            others += syscall(SYS_gettid) != me;
        }
    }
    return others;
}

static void idle_workers_help(void) {
    int tries = 0;
    while (helpers_of_one_region() == 0)
        CHECK(++tries < kTries);
}

/* A program that says how many levels are active has threads of the system's. */
static void own_levels(void) {
#pragma omp parallel num_threads(2)
    {
        omp_set_max_active_levels(2);
        long who[2] = {0};
#pragma omp parallel num_threads(2) shared(who)
        {
            CHECK_EQ(omp_get_num_threads(), 2);
            who[omp_get_thread_num()] = syscall(SYS_gettid);
        }
        CHECK(who[0] != who[1]);
    }
}

int main(void) {
    const char *split = getenv("SENNIT_SPLIT");
    g_usual = atoi(getenv("OMP_NUM_THREADS"));
    g_cuts = split && g_usual > 1;
    CHECK(!g_cuts || omp_get_max_active_levels() > 1);
    in_one_task(all);
    in_many_tasks();
    in_all_threads();
    if (g_cuts)
        idle_workers_help();
    own_levels();
    in_one_task(spins); /* last: splitting may end */
    in_one_task(all);
    return 0;
}
