/* SPDX-License-Identifier: Apache-2.0
 * test: threads=4,3,2 OMP_SCHEDULE=guided,7 OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=4
 *     OMP_THREAD_LIMIT=6 OMP_MAX_TASK_PRIORITY=9
 * OpenMP 5.2, 21 (environment variables): what the variables say is what the routines report. Run
 * with OMP_SCHEDULE=guided,7 OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=4 OMP_THREAD_LIMIT=6
 * OMP_NUM_THREADS=4,3,2 OMP_MAX_TASK_PRIORITY=9.
 */
#include "check.h"

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind & ~omp_sched_monotonic, omp_sched_guided);
    CHECK_EQ(chunk, 7);
    CHECK(omp_get_dynamic());
    CHECK_EQ(omp_get_max_active_levels(), 4);
    CHECK_EQ(omp_get_thread_limit(), 6);
    CHECK_EQ(omp_get_max_task_priority(), 9);
    CHECK_EQ(omp_get_max_threads(), 4);
    omp_set_dynamic(0);
#pragma omp parallel
    {
        CHECK_EQ(omp_get_num_threads(), 4);
        CHECK_EQ(omp_get_max_threads(), 3);
    }
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(1)
    CHECK_EQ(omp_get_max_threads(), 2);
#pragma omp parallel num_threads(50)
    CHECK(omp_get_num_threads() <= 6);
    return 0;
}
