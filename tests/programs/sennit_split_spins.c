/* SPDX-License-Identifier: Apache-2.0
 * test: variant=4 threads=2 SENNIT_SPLIT=4
 * run: omp.{program}.says.{compiler} threads=2 SENNIT_SPLIT=4
 *     pass='^sennit: SENNIT_SPLIT=4: threads of ring[^\n]* wait for each other by spinning,
 *     [^\n]*\n$'
 *
 * sennit_split_spins.c - threads that spin on each other, under SENNIT_SPLIT: each waits for the
 * next one, which may not have begun. Nothing hangs; and after some such regions no more are split.
 * How many depends on what else the machine does.
 */
#include "check.h"

#include <stdatomic.h>
#include <string.h>

enum { kMost = 64 };

static atomic_int g_come[kMost];
static int g_times[kMost];

static void ring(void) {
    for (int i = 0; i < kMost; ++i)
        atomic_store(&g_come[i], 0);
    memset(g_times, 0, sizeof g_times);
    int threads = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        const int all = omp_get_num_threads();
        if (me == 0)
            threads = all;
        if (me + 1 < all)
            while (!atomic_load(&g_come[me + 1])) {
            }
        atomic_store(&g_come[me], 1);
        ++g_times[me];
        /* Tasks of theirs, and a barrier, work as ever. */
        int done = 0;
#pragma omp task shared(done)
        done = 1;
#pragma omp taskwait
        CHECK_EQ(done, 1);
#pragma omp barrier
        CHECK_EQ(g_times[(me + 1) % all], 1);
    }
    for (int i = 0; i < threads; ++i)
        CHECK_EQ(g_times[i], 1);
}

/* Threads that compute beside them. */
static void others(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; ++i)
        sum += i;
    CHECK_EQ(sum, 499500);
}

int main(void) {
    const int workers = atoi(getenv("OMP_NUM_THREADS"));
    CHECK(omp_get_max_threads() > workers);
    while (omp_get_max_threads() > workers) {
        ring();
        others();
    }
    CHECK_EQ(omp_get_max_threads(), workers);
    others();
    return 0;
}
