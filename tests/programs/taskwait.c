/* SPDX-License-Identifier: Apache-2.0
 * test, policies, split:
 * OpenMP 5.2, 15.5 (taskwait): waits for the children that the task created so far, at every depth
 * of the tree; with depend, only for the predecessors that it names.
 */
#include "check.h"

static int tree(int depth) {
    int left = 0, right = 0;
    if (depth == 0)
        return 1;
#pragma omp task shared(left) firstprivate(depth)
    left = tree(depth - 1);
#pragma omp task shared(right) firstprivate(depth)
    right = tree(depth - 1);
#pragma omp taskwait
    return left + right;
}

static void waits_for_what_depend_names(void) {
    for (int round = 0; round < 50; ++round) {
        int x = 0, y = 0, z = 0;
#pragma omp task depend(out : x) shared(x)
        x = 1;
#pragma omp task depend(inout : x) depend(out : y) shared(x, y)
        {
            x += 1;
            y = 5;
        }
#pragma omp task depend(in : y) depend(out : z) shared(y, z)
        z = y + 1;
#pragma omp taskwait depend(in : x)
        CHECK_EQ(x, 2);
#pragma omp taskwait depend(in : x) depend(inout : y, z)
        CHECK_EQ(z, 6);
#pragma omp task depend(inout : x) shared(x)
        x = 9;
#pragma omp taskwait depend(out : x)
        CHECK_EQ(x, 9);
    }
#pragma omp taskwait
}

static void no_children_no_wait(void) {
    for (int i = 0; i < 100; ++i) {
#pragma omp taskwait
    }
}

int main(void) {
#pragma omp parallel
    {
        CHECK_EQ(tree(6), 64);
#pragma omp single
        CHECK_EQ(tree(11), 2048);
#pragma omp single
        waits_for_what_depend_names();
        no_children_no_wait();
    }
    waits_for_what_depend_names();
    no_children_no_wait();
    return 0;
}
