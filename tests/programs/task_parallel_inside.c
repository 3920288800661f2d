/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 10.1: a task may encounter a parallel region; the inner team is the task's own, and
 * tasks created there belong to the inner region.
 */
#include "check.h"

static void regions_inside_tasks(int levels) {
    int sum = 0, tasks = 0;
    omp_set_max_active_levels(levels);
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < 20; ++t) {
#pragma omp task shared(sum, tasks)
        {
            int inner = 0;
            const int me = omp_get_thread_num(), size = omp_get_num_threads();
#pragma omp parallel num_threads(3) shared(inner, tasks)
            {
                CHECK_EQ(omp_get_level(), 2);
                CHECK_EQ(omp_get_ancestor_thread_num(1), me);
#pragma omp for reduction(+ : inner)
                for (int i = 0; i < 10; ++i)
                    inner += i;
#pragma omp task shared(tasks)
                {
                    CHECK_EQ(omp_get_level(), 2);
#pragma omp atomic
                    tasks += 1;
                }
            }
            CHECK_EQ(omp_get_level(), 1);
            CHECK_EQ(omp_get_thread_num(), me);
            CHECK_EQ(omp_get_num_threads(), size);
#pragma omp atomic
            sum += inner;
        }
    }
    CHECK_EQ(sum, 900);
    CHECK(tasks == 60 || (tasks == 20 && (levels == 1)));
}

/* As libraries have them: a loop of a region, or a loop of tasks, in a task whose team is idle. */
static void loops_inside_tasks(void) {
    enum { items = 64 };
    int visits[items] = {0}, team = 0;
    long sum = 0;
    omp_set_max_active_levels(1);
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 20; ++round) {
#pragma omp task shared(sum, team, visits)
        {
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < items; ++i) {
                if (i == 0)
                    team = omp_get_num_threads();
                ++visits[i];
                sum += i;
            }
        }
#pragma omp taskwait
        CHECK(team == 1 || omp_get_num_threads() == 1);
#pragma omp task shared(sum, visits)
        {
            long found = 0;
#pragma omp taskloop reduction(+ : found) num_tasks(16)
            for (int i = 0; i < items; ++i) {
                ++visits[i];
                found += i;
            }
            sum += found;
        }
#pragma omp taskwait
    }
    CHECK_EQ(sum, 20L * items * (items - 1));
    for (int i = 0; i < items; ++i)
        CHECK_EQ(visits[i], 40);
}

int main(void) {
    omp_set_dynamic(0);
    loops_inside_tasks();
    regions_inside_tasks(2);
    if (check_threads() > 1)
        regions_inside_tasks(1);
    return 0;
}
