/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 5.5.5 (reduction clause): arrays and array sections reduce element by element; the
 * elements outside of the section are left alone.
 */
#include "check.h"

int main(void) {
    enum { n = 1000 };
    int histogram[16] = {0};
    double *field = calloc(n, sizeof *field);
    long section[10] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    CHECK(field != NULL);
#pragma omp parallel for reduction(+ : histogram) reduction(+ : field[ : n])                       \
    reduction(+ : section[2 : 5])
    for (int i = 0; i < n; ++i) {
        histogram[i % 16] += 1;
        for (int k = 0; k < n; k += 10)
            field[k] += 1;
        section[2 + i % 5] += 1;
    }
    for (int i = 0; i < 16; ++i)
        CHECK_EQ(histogram[i], n / 16 + (i < n % 16));
    for (int k = 0; k < n; ++k)
        CHECK(field[k] == (k % 10 ? 0 : n));
    for (int i = 0; i < 10; ++i)
        CHECK_EQ(section[i], i >= 2 && i < 7 ? 300 : 100);
    free(field);
    return 0;
}
