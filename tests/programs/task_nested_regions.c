/* SPDX-License-Identifier: Apache-2.0
 * test, tool:
 * OpenMP 5.2, 12.9: tasks bind to the innermost parallel region: they run on threads of that team
 * and are complete at its end, in nested teams that all create tasks at once.
 */
#include "check.h"

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    for (int round = 0; round < 10; ++round) {
        int outer_tasks = 0;
#pragma omp parallel num_threads(3)
        {
            int inner_tasks = 0;
            const int outer = omp_get_thread_num();
            for (int i = 0; i < 10; ++i) {
#pragma omp task shared(outer_tasks)
                {
                    CHECK_EQ(omp_get_level(), 1);
                    CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp atomic
                    outer_tasks += 1;
                }
            }
#pragma omp parallel num_threads(2) shared(inner_tasks)
            {
                for (int i = 0; i < 20; ++i) {
#pragma omp task shared(inner_tasks)
                    {
                        CHECK_EQ(omp_get_level(), 2);
                        CHECK_EQ(omp_get_num_threads(), 2);
                        CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
#pragma omp atomic
                        inner_tasks += 1;
                    }
                }
            }
            CHECK_EQ(inner_tasks, 40);
        }
        CHECK_EQ(outer_tasks, 30);
    }
    return 0;
}
