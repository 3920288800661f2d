/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 10.1: any sequence of team sizes, far more threads than processors included; every
 * region ends with a barrier that makes its writes visible.
 */
#include "check.h"

int main(void) {
    omp_set_dynamic(0);
    uint64_t random = 1;
    int owner[64];
    for (int region = 0; region < 500; ++region) {
        const int size = 1 + (int)(check_random(&random) % 12);
#pragma omp parallel num_threads(size)
        owner[omp_get_thread_num()] = region * 100 + omp_get_num_threads();
        for (int thread = 0; thread < size; ++thread)
            CHECK_EQ(owner[thread], region * 100 + size);
    }
#pragma omp parallel num_threads(64)
    {
        owner[omp_get_thread_num()] = omp_get_thread_num();
#pragma omp barrier
        for (int thread = 0; thread < 64; ++thread)
            CHECK_EQ(owner[thread], thread);
    }
    return 0;
}
