/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 11.3 (sections): each section runs exactly once, whatever the number of threads; the
 * construct ends with a barrier unless nowait is there.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 100; ++round) {
        int ran[5] = {0}, sum = 0;
#pragma omp parallel
        {
#pragma omp sections reduction(+ : sum)
            {
                {
                    ran[0] += 1;
                    sum += 1;
                }
#pragma omp section
                {
                    ran[1] += 1;
                    sum += 2;
                }
#pragma omp section
                {
                    ran[2] += 1;
                    sum += 4;
                }
#pragma omp section
                {
                    ran[3] += 1;
                    sum += 8;
                }
#pragma omp section
                {
                    ran[4] += 1;
                    sum += 16;
                }
            }
            for (int s = 0; s < 5; ++s)
                CHECK_EQ(ran[s], 1);
            CHECK_EQ(sum, 31);
        }
        int alone = 0;
#pragma omp parallel sections num_threads(3)
        {
#pragma omp section
            alone += 1;
        }
        CHECK_EQ(alone, 1);
    }
    return 0;
}
