/* SPDX-License-Identifier: Apache-2.0
 * test: threads=2 SENNIT_SPLIT=inner
 *
 * sennit_inner_levels.c - under SENNIT_SPLIT=inner a program sets how many levels of regions are
 * active, and puts back what it was told: inner regions are cut as before.
 */
#include "inner_threads.h"

static void check_one_level(void) {
    CHECK_EQ(omp_get_max_active_levels(), 1);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        CHECK_EQ(omp_get_num_threads(), 1);
    }
}

static void check_all_levels(void) {
    CHECK_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());
    check_cut(ask_plainly);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int main(void) {
    const int before = omp_get_max_active_levels();
    const int nested = omp_get_nested();
    check_all_levels();
    omp_set_max_active_levels(1);
    check_one_level();
    omp_set_max_active_levels(before);
    check_all_levels();
    omp_set_nested(0);
    check_one_level();
    omp_set_nested(nested);
    check_all_levels();
    omp_set_max_active_levels(2);
    CHECK_EQ(omp_get_max_active_levels(), 2);
    check_own(ask_plainly);
    return 0;
}
