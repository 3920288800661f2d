// SPDX-License-Identifier: Apache-2.0
// build: compiler=gcc # clang 19 inlines the region where it knows no device
// test:
// OpenMP 5.2, 2.4, 13.8: to a target region its thread is initial, and its settings are those of
// the device, which nobody has changed. Clang knows no device and inlines the region.
#include "check.h"

int main(void) {
    const int threads = omp_get_max_threads(), levels = omp_get_max_active_levels();
    omp_set_num_threads(3);
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    {
        const int me = omp_get_thread_num();
#pragma omp target
        {
            CHECK_EQ(omp_get_level(), 0);
            CHECK_EQ(omp_get_num_threads(), 1);
            CHECK_EQ(omp_get_thread_num(), 0);
            CHECK(!omp_in_parallel());
            CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
            CHECK_EQ(omp_get_max_threads(), threads);
            CHECK_EQ(omp_get_max_active_levels(), levels);
            omp_set_num_threads(7);
#pragma omp parallel num_threads(2)
            {
                CHECK_EQ(omp_get_level(), 1);
                CHECK_EQ(omp_get_ancestor_thread_num(1), omp_get_thread_num());
            }
            int done = 0;
#pragma omp single
            done = 1;
            CHECK_EQ(done, 1);
        }
        CHECK_EQ(omp_get_level(), 2);
        CHECK_EQ(omp_get_thread_num(), me);
        CHECK_EQ(omp_get_max_threads(), 3);
    }
#pragma omp teams num_teams(2)
#pragma omp parallel num_threads(1)
#pragma omp target
    {
        CHECK_EQ(omp_get_num_teams(), 1);
        CHECK_EQ(omp_get_team_num(), 0);
    }
    return 0;
}
