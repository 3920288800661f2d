/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 15.3.1 (barrier): nobody leaves before everybody came and before every explicit task
 * of the region is complete.
 */
#include "check.h"

int main(void) {
    enum { phases = 500 };
    static int arrived[phases], tasks_done;
#pragma omp parallel
    {
        for (int phase = 0; phase < phases; ++phase) {
#pragma omp atomic
            arrived[phase] += 1;
#pragma omp barrier
            CHECK_EQ(arrived[phase], omp_get_num_threads());
        }
        for (int phase = 1; phase <= 50; ++phase) {
            for (int t = 0; t < 4; ++t) {
#pragma omp task
                {
#pragma omp task
                    {
#pragma omp atomic
                        tasks_done += 1;
                    }
                }
            }
#pragma omp barrier
            CHECK_EQ(tasks_done, 4 * phase * omp_get_num_threads());
#pragma omp barrier
        }
    }
    return 0;
}
