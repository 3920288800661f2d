/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 4.4.3 (collapse): the iterations of the nested loops form one space; loops whose
 * bounds depend on an outer variable (non-rectangular) included.
 */
#include "check.h"
#include <string.h>

static int count[12][12][12];

static void ran_exactly(int triangular) {
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
            for (int k = 0; k < 12; ++k)
                CHECK_EQ(count[i][j][k], triangular ? (j >= i && k == 0) : (i < 10 && k % 5 == 0));
    memset(count, 0, sizeof count);
}

int main(void) {
    const volatile int none = 0;
    const int empty = none;
#pragma omp parallel for collapse(3) schedule(dynamic, 5)
    for (int i = 0; i < 10; ++i)
        for (long j = 11; j >= 0; --j)
            for (unsigned k = 0; k < 12; k += 5) {
#pragma omp atomic
                count[i][j][k] += 1;
            }
    ran_exactly(0);
#pragma omp parallel for collapse(3) schedule(static)
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 12; ++j)
            for (int k = 10; k > -1; k -= 5)
                count[i][j][k] += 1;
    ran_exactly(0);
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 12; ++i)
        for (int j = i; j < 12; ++j)
            count[i][j][0] += 1;
    ran_exactly(1);
#pragma omp parallel for collapse(2) schedule(static, 2)
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < empty; ++j)
            CHECK(!"an empty inner loop has no iterations");
    return 0;
}
