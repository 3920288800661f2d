/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_CANCELLATION=false
 * OpenMP 5.2, 16.1 (cancel): with cancel-var false, the default, cancel and cancellation point
 * constructs are accepted and change nothing.
 */
#include "check.h"

int main(void) {
    int after = 0, trips = 0, tasks = 0, sections = 0;
    CHECK(!omp_get_cancellation());
#pragma omp parallel
    {
#pragma omp cancel parallel
#pragma omp cancellation point parallel
#pragma omp atomic
        after += 1;
#pragma omp for
        for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 3)
#pragma omp cancellation point for
#pragma omp atomic
            trips += 1;
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
#pragma omp atomic
                sections += 1;
            }
#pragma omp section
            {
#pragma omp cancellation point sections
#pragma omp atomic
                sections += 1;
            }
        }
#pragma omp single
        {
#pragma omp taskgroup
            for (int i = 0; i < 50; ++i) {
#pragma omp task shared(tasks)
                {
#pragma omp cancel taskgroup
#pragma omp cancellation point taskgroup
#pragma omp atomic
                    tasks += 1;
                }
            }
        }
    }
    CHECK_EQ(after, check_threads());
    CHECK_EQ(trips, 100);
    CHECK_EQ(sections, 2);
    CHECK_EQ(tasks, 50);
    return 0;
}
