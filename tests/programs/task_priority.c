/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_MAX_TASK_PRIORITY=10
 * OpenMP 5.2, 12.5.2 and 21.2.9 (OMP_MAX_TASK_PRIORITY): the priority clause is a hint with values
 * from 0 up to omp_get_max_task_priority(); higher ones are cut. Run with OMP_MAX_TASK_PRIORITY=10.
 */
#include "check.h"

int main(void) {
    CHECK_EQ(omp_get_max_task_priority(), 10);
    int done = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 1000; ++i) {
#pragma omp task priority(i % 13) shared(done) depend(inout : done)
        {
#pragma omp task priority(10) shared(done)
            {
#pragma omp atomic
                done += 1;
            }
#pragma omp taskwait
        }
    }
    CHECK_EQ(done, 1000);
    return 0;
}
