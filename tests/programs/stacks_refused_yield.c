/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: threads=1 OMP_STACKSIZE=8M
 * A task on the only stack for tasks yields until the task that has yielded to it goes on. It does,
 * though a third one is ready, which has no stack. (OMP_STACKSIZE=8M: see stacks_refused.c)
 */
#include "limited_memory.h"

static int creator_went_on, third_over;

static void second(void) {
    limit_addresses(4 << 20);
#pragma omp task
    third_over = 1;
    while (!__atomic_load_n(&creator_went_on, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
    }
}

int main(void) {
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        second();
#pragma omp taskyield
        __atomic_store_n(&creator_went_on, 1, __ATOMIC_RELEASE);
    }
    CHECK_EQ(third_over, 1);
    return 0;
}
