/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: threads=1 OMP_STACKSIZE=8M
 * A task is suspended on the only stack for tasks, and its child is ready. Another task is in front
 * of the child, and cannot run: the thread's own task holds a lock. The child runs all the same, on
 * top of the suspended task. (OMP_STACKSIZE=8M: see stacks_refused.c)
 */
#include "limited_memory.h"

static omp_lock_t lock;
static int parent_over, child_over, other_over;

static void parent(void) {
    limit_addresses(4 << 20);
#pragma omp task
    child_over = 1;
#pragma omp task if (0)
    {
#pragma omp task /* nobody's child that waits */
        other_over = 1;
    }
#pragma omp taskwait
    CHECK_EQ(child_over, 1);
    parent_over = 1;
}

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(1)
    {
        omp_set_lock(&lock);
#pragma omp task
        parent();
#pragma omp taskyield
#pragma omp taskwait
        CHECK_EQ(parent_over, 1);
        omp_unset_lock(&lock);
    }
    CHECK_EQ(other_over, 1);
    omp_destroy_lock(&lock);
    return 0;
}
