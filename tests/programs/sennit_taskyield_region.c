/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 12.10: a task that yields until another has done its part is no obstacle to the end
 * of a parallel region that the other one is in: with one thread too, and tasks in that region.
 */
#include "check.h"

int main(void) {
    omp_set_max_active_levels(3);
    for (int round = 0; round < 20; ++round) {
        int done = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task shared(done)
            {
#pragma omp parallel num_threads(1 + round % 2)
                {
#pragma omp task
                    {
#pragma omp taskyield
                    }
#pragma omp taskyield
                }
#pragma omp atomic write seq_cst
                done = 1;
            }
            for (int seen = 0; !seen;) {
#pragma omp taskyield
#pragma omp atomic read seq_cst
                seen = done;
            }
        }
    }
    return 0;
}
