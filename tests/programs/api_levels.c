/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 18.2.16 to 18.2.21: levels, ancestors and the limit of active levels; values out of
 * range give -1.
 */
#include "check.h"

int main(void) {
    omp_set_dynamic(0);
    CHECK(omp_get_supported_active_levels() >= 1);
    omp_set_max_active_levels(3);
    CHECK_EQ(omp_get_max_active_levels(), 3);
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_active_level(), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
    CHECK_EQ(omp_get_team_size(0), 1);
    CHECK_EQ(omp_get_team_size(1), -1);
#pragma omp parallel num_threads(1)
    {
        CHECK_EQ(omp_get_level(), 1);
        CHECK_EQ(omp_get_active_level(), 0);
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_level(), 2);
            CHECK_EQ(omp_get_active_level(), 1);
            CHECK_EQ(omp_get_team_size(1), 1);
            CHECK_EQ(omp_get_team_size(2), 2);
#pragma omp task
            {
                CHECK_EQ(omp_get_level(), 2);
                CHECK_EQ(omp_get_ancestor_thread_num(2), omp_get_thread_num());
            }
        }
    }
    return 0;
}
