/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 18.2 (thread team routines): values outside and inside of regions; a task's ICVs are
 * its own, and a region's members inherit those of the task that encountered it.
 */
#include "check.h"

int main(void) {
    const int threads = check_threads();
    CHECK(omp_get_num_procs() >= 1);
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK_EQ(omp_get_thread_num(), 0);
    CHECK(!omp_in_parallel());
    CHECK(!omp_in_final());
    CHECK(omp_get_thread_limit() >= threads);

    omp_set_dynamic(1);
    CHECK(omp_get_dynamic());
    omp_set_dynamic(0);
    CHECK(!omp_get_dynamic());

    omp_set_num_threads(3);
    CHECK_EQ(omp_get_max_threads(), 3);
#pragma omp parallel
    {
        CHECK_EQ(omp_get_num_threads(), 3);
        CHECK_EQ(omp_get_max_threads(), 3);
        CHECK(omp_in_parallel());
        omp_set_num_threads(5 + omp_get_thread_num());
        CHECK_EQ(omp_get_max_threads(), 5 + omp_get_thread_num());
#pragma omp task
        omp_set_num_threads(17);
#pragma omp taskwait
        CHECK_EQ(omp_get_max_threads(), 5 + omp_get_thread_num());
    }
    CHECK_EQ(omp_get_max_threads(), 3);

    omp_set_num_threads(threads);
    CHECK_EQ(omp_get_max_threads(), threads);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_get_team_num(), 0);
    CHECK_EQ(omp_is_initial_device(), 1);
    CHECK_EQ(omp_get_num_devices(), 0);
    return 0;
}
