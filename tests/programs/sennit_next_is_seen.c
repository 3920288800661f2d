/* SPDX-License-Identifier: Apache-2.0
 * test: SENNIT_POLICY=fa
 * What a task's end makes ready does not wait for a task that was resumed on the same thread and
 * goes on there first: another thread runs it.
 */
#include "sennit_door.h"

enum { ROUNDS = 30 };

static void *sleeper; /* a task; atomic */
static int ran;       /* atomic */

/* The test's own limit ends a wait that is in vain. */
static void spin_until_it_ran(void) {
    for (int seen = 0; !seen;) {
#pragma omp atomic read seq_cst
        seen = ran;
    }
}

static int order; /* of the last two tasks */

static void one_round(void) {
    sleeper = NULL;
    ran = 0;
#pragma omp task
    {
        sennit_task *self = door_self();
        __atomic_store_n(&sleeper, self, __ATOMIC_SEQ_CST);
        CHECK_EQ(DOOR(sennit_task_suspend)(self), SENNIT_SUCCESS);
        spin_until_it_ran(); /* this thread does nothing else meanwhile */
    }
#pragma omp task depend(out : order)
    {
        void *task;
        while (!(task = __atomic_load_n(&sleeper, __ATOMIC_SEQ_CST))) {
#pragma omp taskyield
        }
        CHECK_EQ(DOOR(sennit_task_resume)(task), SENNIT_SUCCESS);
    }
#pragma omp task depend(in : order)
    {
#pragma omp atomic write seq_cst
        ran = 1;
    }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
    if (omp_get_num_threads() > 1) {
        for (int i = 0; i < ROUNDS; ++i)
            one_round();
    }
    return 0;
}
