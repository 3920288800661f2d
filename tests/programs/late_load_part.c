/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -shared
 * What late_load_main.c opens: a library that uses OpenMP, also when it is loaded and unloaded.
 */
#include "check.h"

int late_compute(int threads);

int late_compute(int threads) {
    int sum = 0, chain = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; ++i)
            sum += i;
#pragma omp single
        for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            {
#pragma omp taskyield
                chain += 1;
            }
        }
    }
    return sum + chain;
}

__attribute__((constructor)) static void loaded(void) {
    CHECK_EQ(late_compute(2), 4970);
}

__attribute__((destructor)) static void unloaded(void) {
    CHECK_EQ(late_compute(2), 4970);
}
