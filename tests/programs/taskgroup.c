/* SPDX-License-Identifier: Apache-2.0
 * test, policies, split, tool:
 * OpenMP 5.2, 15.4 (taskgroup): waits for the tasks created in the region and all of their
 * descendants; taskgroups nest, and tasks from before the region are not its members.
 */
#include "check.h"

static void spread(int depth, int *done) {
#pragma omp atomic
    *done += 1;
    if (depth == 0)
        return;
    for (int child = 0; child < 3; ++child) {
#pragma omp task firstprivate(depth, done)
        spread(depth - 1, done);
    }
}

static void waits_for_descendants(void) {
    int done = 0;
#pragma omp taskgroup
    spread(6, &done);
    CHECK_EQ(done, 1093);
}

static void groups_nest(void) {
    int outer = 0, inner[8] = {0};
#pragma omp taskgroup
    {
        for (int i = 0; i < 8; ++i) {
#pragma omp task firstprivate(i) shared(inner, outer)
            {
#pragma omp taskgroup
                {
                    for (int k = 0; k < 10; ++k) {
#pragma omp task firstprivate(i) shared(inner, outer)
                        {
#pragma omp task firstprivate(i) shared(inner)
                            {
#pragma omp atomic
                                inner[i] += 1;
                            }
                        }
                    }
                }
                CHECK_EQ(inner[i], 10);
#pragma omp task shared(outer)
                {
#pragma omp atomic
                    outer += 1;
                }
            }
        }
    }
    CHECK_EQ(outer, 8);
}

static void empty_groups(void) {
    for (int i = 0; i < 100; ++i) {
#pragma omp taskgroup
        {
#pragma omp taskgroup
            ;
        }
    }
}

int main(void) {
    for (int round = 0; round < 10; ++round) {
#pragma omp parallel
        {
#pragma omp single nowait
            waits_for_descendants();
            groups_nest();
            empty_groups();
        }
    }
    waits_for_descendants();
    groups_nest();
    return 0;
}
