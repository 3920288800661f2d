/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 10.1 and 18.2: six nested levels of parallelism, each with tasks, loops and barriers
 * of its own.
 */
#include "check.h"

enum { deepest = 6 };

static int descend(int level, const int *numbers) {
    int leaves = 0;
#pragma omp parallel num_threads(2) reduction(+ : leaves)
    {
        int path[deepest + 1], partial = 0;
        for (int l = 1; l < level; ++l)
            path[l] = numbers[l];
        path[level] = omp_get_thread_num();
        CHECK_EQ(omp_get_level(), level);
        CHECK_EQ(omp_get_active_level(), level);
        CHECK_EQ(omp_get_num_threads(), 2);
        for (int l = 1; l <= level; ++l) {
            CHECK_EQ(omp_get_ancestor_thread_num(l), path[l]);
            CHECK_EQ(omp_get_team_size(l), 2);
        }
#pragma omp task shared(partial) firstprivate(path)
        {
            path[level] = omp_get_thread_num(); /* of who runs the task */
            partial = level < deepest ? descend(level + 1, path) : 1;
        }
#pragma omp taskwait
#pragma omp barrier
        leaves += partial;
    }
    return leaves;
}

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(deepest);
    for (int round = 0; round < 3; ++round) {
        const int none[deepest + 1] = {0};
        CHECK_EQ(descend(1, none), 1 << deepest);
    }
    return 0;
}
