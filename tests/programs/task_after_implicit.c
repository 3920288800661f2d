/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 10.1: a thread's work in a region begins with its implicit task. What that sets up
 * for the thread (copies for copyin, GCC's private copies of reduction(task, ...)) is there before
 * any explicit task of the region runs on it, also on a thread that waits for the region to begin
 * when the others are at work already.
 */
#include "check.h"

enum { REGIONS = 20000, TASKS = 8 };
static const double SECONDS = 20; // on a busy machine a region of many threads takes milliseconds

static int current;
#pragma omp threadprivate(current)

static void tasks_find_the_region_begun_on_their_thread(void) {
    int tasks = 0, regions = 0;
    const double end = omp_get_wtime() + SECONDS;
    for (int region = 1; region <= REGIONS && omp_get_wtime() < end; ++region) {
        current = regions = region;
#pragma omp parallel copyin(current) reduction(+ : tasks)
        {
            for (int i = 0; i < TASKS; ++i) {
#pragma omp task firstprivate(region)
                CHECK_EQ(current, region);
            }
            tasks += TASKS;
        }
    }
    CHECK_EQ(tasks % (regions * TASKS), 0);
}

static void task_reductions_lose_nothing(void) {
    const double end = omp_get_wtime() + SECONDS;
    for (int region = 0; region < REGIONS / 10 && omp_get_wtime() < end; ++region) {
        unsigned long product = 1;
        int threads = 0;
#pragma omp parallel reduction(task, * : product)
        {
#pragma omp single nowait
            threads = omp_get_num_threads();
#pragma omp single
            for (int i = 0; i < 2 * TASKS; ++i) {
#pragma omp task in_reduction(* : product)
                product *= 3;
            }
        }
        unsigned long expected = 1;
        for (int i = 0; i < 2 * TASKS; ++i)
            expected *= 3;
        CHECK(threads > 0);
        CHECK_EQ(product, expected);
    }
}

int main(void) {
    tasks_find_the_region_begun_on_their_thread();
    task_reductions_lose_nothing();
    return 0;
}
