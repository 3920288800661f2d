/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 12.8 (taskyield): allowed in every kind of task and outside of tasks; the team makes
 * progress and tied tasks stay on their thread.
 */
#include "check.h"

static void yield_and_stay(int depth) {
    const int me = omp_get_thread_num();
    for (int i = 0; i < 10; ++i) {
        if (depth > 0) {
#pragma omp task firstprivate(depth)
            yield_and_stay(depth - 1);
        }
#pragma omp taskyield
        CHECK_EQ(omp_get_thread_num(), me);
    }
#pragma omp taskwait
    CHECK_EQ(omp_get_thread_num(), me);
}

int main(void) {
#pragma omp taskyield
#pragma omp parallel
    {
#pragma omp taskyield
#pragma omp single
        yield_and_stay(3);
        yield_and_stay(1);
#pragma omp task untied
        for (int i = 0; i < 100; ++i) {
#pragma omp taskyield
        }
    }
    return 0;
}
