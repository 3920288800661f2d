/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 10.5 (masked): only the thread whose number filter gives runs the block, without any
 * barrier; master is masked with filter(0).
 */
#include "check.h"

int main(void) {
    int by_master = 0, by_last = 0, nobody = 0, every = 0;
#pragma omp parallel
    {
        const int last = omp_get_num_threads() - 1;
#pragma omp master
        {
            CHECK_EQ(omp_get_thread_num(), 0);
            by_master += 1;
        }
#pragma omp masked filter(last)
        {
            CHECK_EQ(omp_get_thread_num(), last);
            by_last += 1;
        }
#pragma omp masked filter(last + 1)
        nobody += 1;
#pragma omp masked filter(omp_get_thread_num())
        {
#pragma omp atomic
            every += 1;
        }
    }
#pragma omp parallel masked
    by_master += 1;
    CHECK_EQ(by_master, 2);
    CHECK_EQ(by_last, 1);
    CHECK_EQ(nobody, 0);
    CHECK_EQ(every, check_threads());
    return 0;
}
