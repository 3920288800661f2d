/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: threads=2 OMP_STACKSIZE=8M
 * Two threads have one stack each for tasks. A task on it has a child and waits, below it the
 * thread's own task goes on and waits, too. No other stack can be had, so the child can run on top
 * of the suspended task alone. (OMP_STACKSIZE=8M: see stacks_refused.c)
 */
#include "limited_memory.h"
#include <sched.h>

static int first_begun, second_went_on; /* flags */
static int done[2];

static void set(int *flag) {
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void spin_until(const int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void parent(int me) {
#pragma omp task
    done[me] = 1;
    if (me == 0) { /* the other thread does not take the child meanwhile */
        set(&first_begun);
        spin_until(&second_went_on);
    }
#pragma omp taskwait
    CHECK_EQ(done[me], 1);
}

int main(void) {
    int warm = 0;
#pragma omp parallel num_threads(2) reduction(+ : warm)
    warm += 1;
    CHECK_EQ(warm, 2);
    limit_addresses(60 << 20);
#pragma omp parallel num_threads(2)
    {
        const int me = omp_get_thread_num();
        if (me == 1)
            spin_until(&first_begun); /* two that ask for a stack at once may both be refused */
#pragma omp task
        parent(me);
#pragma omp taskyield
        if (me == 1)
            set(&second_went_on);
#pragma omp taskwait
    }
    return 0;
}
