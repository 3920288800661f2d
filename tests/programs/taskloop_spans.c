/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_CANCELLATION=true
 * OpenMP 5.2, 12.6: a taskloop that would have to count downwards has no iterations; one that
 * nobody could finish begins all the same, and is left by cancellation.
 */
#include "check.h"
#include <limits.h>

static int iterations_to(int bound) {
    int ran = 0;
#pragma omp taskloop shared(ran)
    for (int i = 0; i < bound; ++i)
#pragma omp atomic
        ++ran;
#pragma omp taskloop shared(ran) num_tasks(3)
    for (int i = 0; i < bound; ++i)
#pragma omp atomic
        ++ran;
    return ran;
}

static int begun(unsigned long long bound) {
    int ran = 0;
#pragma omp taskloop shared(ran) num_tasks(4)
    for (unsigned long long i = 0; i < bound; ++i) {
#pragma omp atomic
        ++ran;
#pragma omp cancel taskgroup
    }
    return ran;
}

int main(void) {
#pragma omp parallel
#pragma omp single
    {
        CHECK_EQ(iterations_to(0), 0);
        CHECK_EQ(iterations_to(-5), 0);
        CHECK_EQ(iterations_to(INT_MIN), 0);
        CHECK_EQ(iterations_to(100), 200);
        CHECK(begun(ULLONG_MAX) > 0);
        CHECK(begun(1ull << 63) > 0);
    }
    return 0;
}
