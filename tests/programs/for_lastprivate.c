/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 5.4.5 (lastprivate): after the region the variable has the value of the sequentially
 * last iteration or lexically last section; with conditional, of the last assignment.
 */
#include "check.h"

int main(void) {
    for (int n = 1; n <= 100; n += 11) {
        int a = -1, b = -1, c = -1, i = -1;
#pragma omp parallel
        {
#pragma omp for lastprivate(a) schedule(static)
            for (int k = 0; k < n; ++k)
                a = k;
#pragma omp for lastprivate(b) schedule(dynamic, 3)
            for (int k = n; k > 0; --k)
                b = k;
#pragma omp for firstprivate(c) lastprivate(c, i) schedule(guided)
            for (i = 0; i < n; ++i)
                c = 2 * i;
        }
        CHECK_EQ(a, n - 1);
        CHECK_EQ(b, 1);
        CHECK_EQ(c, 2 * (n - 1));
        CHECK_EQ(i, n);
    }
    int section = 0;
#pragma omp parallel sections lastprivate(section)
    {
#pragma omp section
        section = 1;
#pragma omp section
        section = 2;
#pragma omp section
        section = 3;
    }
    CHECK_EQ(section, 3);

    int last_match = -1;
#pragma omp parallel for lastprivate(conditional : last_match)
    for (int k = 0; k < 1000; ++k)
        if (k % 97 == 5)
            last_match = k;
    CHECK_EQ(last_match, 975);
    return 0;
}
