/* SPDX-License-Identifier: Apache-2.0
 * build:
 *
 * sennit_split_balanced.c - a region with a static loop, under SENNIT_SPLIT=auto. At first one
 * worker needs the others' help. Then the loop is balanced: nobody is idle as long as there are
 * threads that have not begun. No clock decides this: threads wait for each other. They yield
 * meanwhile, without telling the runtime.
 *
 * The last thread of a worker's part waits until all threads have begun. So when a worker is done,
 * there is nothing left to take.
 */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

enum { kUnbalanced = 20, kBalanced = 300, kIterations = 6400 };

static int g_workers, g_all;
static double g_sum[kIterations];

static int is_last(int thread) {
    for (int worker = 1; worker <= g_workers; ++worker)
        if (thread == g_all * worker / g_workers - 1)
            return 1;
    return 0;
}

static void region(int balanced) {
    atomic_int begun = 0, ended = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        atomic_fetch_add(&begun, 1);
        if (balanced) {
            while (is_last(me) && atomic_load(&begun) < g_all)
                sched_yield();
        } else if (me == 0) {
            while (atomic_load(&ended) < g_all - 1)
                sched_yield();
        } else if (me == g_all / g_workers) {
            /* Where threads wait in a region, its threads are not placed by their times. */
#pragma omp taskyield
        }
#pragma omp for schedule(static) nowait
        for (int i = 0; i < kIterations; ++i)
            g_sum[i] += i;
        atomic_fetch_add(&ended, 1);
    }
    CHECK_EQ(atomic_load(&ended), g_all);
}

int main(void) {
    const char *const threads = getenv("OMP_NUM_THREADS");
    g_workers = threads ? atoi(threads) : 1;
    g_all = omp_get_max_threads();
    CHECK_EQ(g_all, 8 * g_workers);
    for (int i = 0; i < kUnbalanced + kBalanced; ++i)
        region(i >= kUnbalanced);
    for (int i = 0; i < kIterations; ++i)
        CHECK(g_sum[i] == (double)i * (kUnbalanced + kBalanced));
    return 0;
}
