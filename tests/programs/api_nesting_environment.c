/* SPDX-License-Identifier: Apache-2.0
 * test: threads=2,3 OMP_MAX_ACTIVE_LEVELS=3
 * OpenMP 5.2, 21.1.2: OMP_NUM_THREADS is a list, an entry a nesting level; the last one holds for
 * all deeper levels. Run with OMP_NUM_THREADS=2,3 OMP_MAX_ACTIVE_LEVELS=3.
 */
#include "check.h"

int main(void) {
    int leaves = 0;
    omp_set_dynamic(0);
    CHECK_EQ(omp_get_max_threads(), 2);
#pragma omp parallel
    {
        CHECK_EQ(omp_get_num_threads(), 2);
        CHECK_EQ(omp_get_max_threads(), 3);
#pragma omp parallel
        {
            CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp parallel
            {
                CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp atomic
                leaves += 1;
            }
        }
    }
    CHECK_EQ(leaves, 18);
    return 0;
}
