/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lm -lpthread
 * test:
 * Each thread of the program begins as an initial thread with the settings of the environment and
 * fresh threadprivate variables (OpenMP 5.2, 2.4 and 5.2), whatever a thread before it has left;
 * its first region's threads begin in its rounding mode, and worksharing constructs outside of
 * regions are its own (11.5).
 */
#include "check.h"
#include <fenv.h>
#include <pthread.h>

static int private_value = 7;
#pragma omp threadprivate(private_value)

static int threads, dynamic, levels, chunk;
static omp_sched_t schedule;

static void share_alone(void) {
    int iterations = 0, singles = 0;
    for (int round = 0; round < 3; ++round) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; ++i)
            ++iterations;
#pragma omp single
        ++singles;
    }
    CHECK_EQ(iterations, 30);
    CHECK_EQ(singles, 3);
}

static void *user(void *mode) {
    const int rounding = *(const int *)mode;
    omp_sched_t kind;
    int size;
    omp_get_schedule(&kind, &size);
    CHECK_EQ(omp_get_max_threads(), threads);
    CHECK_EQ(omp_get_dynamic(), dynamic);
    CHECK_EQ(omp_get_max_active_levels(), levels);
    CHECK_EQ(kind, schedule);
    CHECK_EQ(size, chunk);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(private_value, 7);
    fesetround(rounding);
    int members = 0;
#pragma omp parallel reduction(+ : members)
    {
        CHECK_EQ(private_value, 7);
        CHECK_EQ(fegetround(), rounding);
        ++members;
    }
    CHECK_EQ(members, threads);
    share_alone();
    private_value = 8;
    omp_set_num_threads(threads + 1);
    omp_set_dynamic(!dynamic);
    omp_set_max_active_levels(levels + 1);
    omp_set_schedule(omp_sched_guided, 11);
    return NULL;
}

int main(void) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST};
    threads = omp_get_max_threads();
    dynamic = omp_get_dynamic();
    levels = omp_get_max_active_levels();
    omp_get_schedule(&schedule, &chunk);
    for (int i = 0; i < 9; ++i) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, user, (void *)&modes[i % 3]), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    return 0;
}
