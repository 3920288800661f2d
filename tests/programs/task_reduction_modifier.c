/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 5.5.8 (reduction with the task modifier): explicit tasks of a parallel, for or
 * sections region take part in its reduction.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 20; ++round) {
        const int threads = check_threads();
        long sum = 5, loop = 0, part = 1;
#pragma omp parallel reduction(task, + : sum)
        {
            sum += 1;
#pragma omp single
            for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : sum)
                {
                    sum += i;
#pragma omp task in_reduction(+ : sum)
                    sum += 1;
                }
            }
        }
        CHECK_EQ(sum, 5 + threads + 4950 + 100);
#pragma omp parallel
        {
#pragma omp for reduction(task, + : loop) schedule(dynamic, 3)
            for (int i = 0; i < 60; ++i) {
                loop += i;
#pragma omp task in_reduction(+ : loop)
                loop += 2;
            }
#pragma omp sections reduction(task, * : part)
            {
#pragma omp section
                {
#pragma omp task in_reduction(* : part)
                    part *= 2;
                }
#pragma omp section
                part *= 3;
            }
        }
        CHECK_EQ(loop, 1770 + 120);
        CHECK_EQ(part, 6);
    }
    return 0;
}
