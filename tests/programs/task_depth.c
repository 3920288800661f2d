/* SPDX-License-Identifier: Apache-2.0
 * test:
 * A chain of 2,000 tasks, each the only child of the one that waits for it: the depth of waiting
 * parents is bounded by memory, not by a thread's stack of pending calls.
 */
#include "check.h"

static int depth_of(int n) {
    int below = 0;
    if (n == 0)
        return 0;
#pragma omp task shared(below)
    below = depth_of(n - 1);
#pragma omp taskwait
    return below + 1;
}

int main(void) {
    int depth = 0;
#pragma omp parallel
#pragma omp single
    depth = depth_of(2000);
    CHECK_EQ(depth, 2000);
    return 0;
}
