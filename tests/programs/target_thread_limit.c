// SPDX-License-Identifier: Apache-2.0
// test: # stock libomp limits each region by itself
// OpenMP 5.2, 13.8, 13.3, 1.2.1: a target region is a contention group of its own. Its thread_limit
// holds in it, for all of its regions together, and nowhere else; the threads outside do not count.
#include "check.h"

// The region that asks, with its nested ones, never has more than `limit` threads.
static void ask(int limit) {
    CHECK_EQ(omp_get_thread_limit(), limit);
    int now = 0, most = 0, size = 0;
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(limit)
#pragma omp single
    size = omp_get_num_threads();
    CHECK_EQ(size, limit);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    {
        int seen;
#pragma omp atomic capture
        seen = ++now;
#pragma omp critical
        if (seen > most)
            most = seen;
#pragma omp barrier
#pragma omp atomic
        --now;
    }
    CHECK(most <= limit);
}

static void in_team(void) { // only few routines may be called in a teams region itself
    CHECK_EQ(omp_get_thread_limit(), 2);
}

static void several(void) {
    const int before = omp_get_thread_limit();
#pragma omp target thread_limit(3)
    ask(3);
    CHECK_EQ(omp_get_thread_limit(), before);
#pragma omp target nowait thread_limit(4)
    ask(4);
#pragma omp taskwait
#pragma omp task
    {
#pragma omp target thread_limit(2)
        ask(2);
        CHECK_EQ(omp_get_thread_limit(), before);
    }
#pragma omp taskwait
    CHECK_EQ(omp_get_thread_limit(), before);
    int size = 0;
#pragma omp target parallel thread_limit(2) num_threads(5) map(tofrom : size)
#pragma omp single
    size = omp_get_num_threads();
    CHECK(size >= 1 && size <= 2);
#pragma omp target teams thread_limit(2) num_teams(2)
    in_team();
}

int main(void) {
    omp_set_dynamic(0);
    for (int round = 0; round < 20; ++round)
        several();
    omp_set_max_active_levels(4);
    // As many of them at the same time as there are threads.
#pragma omp parallel
    several();
    return 0;
}
