/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP before main, in a constructor, and after it, in handlers of atexit and in destructors.
 */
#include "check.h"

static int regions;

static void region(void) {
    int sum = 0, chain = 0;
#pragma omp parallel reduction(+ : sum)
    {
        sum += 1;
#pragma omp single
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            {
#pragma omp taskyield
                chain += 1;
            }
        }
    }
    CHECK_EQ(sum, check_threads());
    CHECK_EQ(chain, 10);
    regions += 1;
}

__attribute__((constructor)) static void before(void) {
    region();
}

__attribute__((destructor)) static void after(void) {
    region();
    CHECK_EQ(regions, 4);
}

int main(void) {
    CHECK_EQ(regions, 1);
    region();
    CHECK_EQ(atexit(region), 0);
    return 0;
}
