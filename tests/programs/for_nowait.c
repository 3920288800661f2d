/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 15.6 (nowait): a thread may run ahead through many worksharing regions without
 * waiting; each region still runs each of its iterations exactly once.
 */
#include "check.h"

enum { loops = 300, trips = 10 };
static int count[loops][trips], singles[loops];

int main(void) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        for (int loop = 0; loop < loops; ++loop) {
            if (loop % 3 == 0) {
#pragma omp for schedule(dynamic) nowait
                for (int i = 0; i < trips; ++i) {
#pragma omp atomic
                    count[loop][i] += 1;
                }
            } else if (loop % 3 == 1) {
#pragma omp for schedule(guided) nowait
                for (int i = 0; i < trips; ++i) {
#pragma omp atomic
                    count[loop][i] += 1;
                }
            } else {
#pragma omp for schedule(static) nowait
                for (int i = 0; i < trips; ++i) {
#pragma omp atomic
                    count[loop][i] += 1;
                }
            }
#pragma omp single nowait
            {
#pragma omp atomic
                singles[loop] += 1;
            }
#pragma omp sections nowait
            {
#pragma omp section
                sum += 1;
#pragma omp section
                sum += 10;
            }
        }
    }
    for (int loop = 0; loop < loops; ++loop) {
        CHECK_EQ(singles[loop], 1);
        for (int i = 0; i < trips; ++i)
            CHECK_EQ(count[loop][i], 1);
    }
    CHECK_EQ(sum, 11 * loops);
    return 0;
}
