/* SPDX-License-Identifier: Apache-2.0
 * test: sample="compiler == 'gcc'"
 * split, tool, valgrind:
 * OpenMP 5.2, 10.1.1 and 18.2: max-active-levels-var decides whether a nested region is active;
 * level, ancestor_thread_num and team_size describe the whole chain of regions.
 */
#include "check.h"

static void nested_regions_are_active_up_to_the_limit(void) {
    int leaves = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
    {
        const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(4)
        {
            CHECK_EQ(omp_get_level(), 2);
            CHECK_EQ(omp_get_active_level(), 2);
            CHECK_EQ(omp_get_num_threads(), 4);
            CHECK_EQ(omp_get_team_size(0), 1);
            CHECK_EQ(omp_get_team_size(1), 3);
            CHECK_EQ(omp_get_team_size(2), 4);
            CHECK_EQ(omp_get_team_size(3), -1);
            CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
            CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
            CHECK_EQ(omp_get_ancestor_thread_num(2), omp_get_thread_num());
            CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
#pragma omp parallel num_threads(5)
            {
                CHECK_EQ(omp_get_level(), 3);
                CHECK_EQ(omp_get_active_level(), 2);
                CHECK_EQ(omp_get_num_threads(), 1);
                CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
                CHECK(omp_in_parallel());
#pragma omp atomic
                leaves += 1;
            }
            CHECK_EQ(omp_get_level(), 2);
        }
        CHECK_EQ(omp_get_thread_num(), outer);
        CHECK_EQ(omp_get_num_threads(), 3);
    }
    CHECK_EQ(leaves, 12);
    CHECK_EQ(omp_get_level(), 0);
}

static void one_level_serialises_nested_regions(void) {
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_num_threads(), 1);
            CHECK_EQ(omp_get_level(), 2);
            CHECK_EQ(omp_get_active_level(), 1);
        }
    }
}

/* Each inner team has its own barriers, single and worksharing. */
static void inner_teams_do_not_mix(void) {
    omp_set_max_active_levels(2);
    enum { outer_size = 4, inner_size = 3 };
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(outer_size)
        {
            int sum = 0, singles = 0;
#pragma omp parallel num_threads(inner_size) shared(sum, singles)
            {
#pragma omp for schedule(dynamic, 2) reduction(+ : sum)
                for (int i = 0; i < 100; ++i)
                    sum += i;
#pragma omp single
                singles += 1;
                CHECK_EQ(sum, 4950);
            }
            CHECK_EQ(singles, 1);
        }
    }
}

int main(void) {
    omp_set_dynamic(0);
    nested_regions_are_active_up_to_the_limit();
    one_level_serialises_nested_regions();
    inner_teams_do_not_mix();
    return 0;
}
