/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler} threads=1 SENNIT_FREE_AGENTS=1 SENNIT_THREADSET=pool
 * A task on a free agent makes more tasks than a queue should hold. The agent runs some at once, as
 * a thread of the team would. The program calls nothing that may wait, or the tasks would be
 * queued.
 */
#include "check.h"
#include <sched.h>

int omp_is_free_agent(void) __attribute__((weak)); /* newer than the compilers' omp.h */

enum { lots = 3000 };

/* How many of its children has the agent run, when it has made them all? -1: there was no agent. */
static int at_once(void) {
    int sum = 0, early = -1, ended = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(sum, early, ended)
        {
            const int agent = omp_is_free_agent();
            for (int i = 0; i < lots; ++i) {
#pragma omp task shared(sum)
                __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
            }
            if (agent)
                early = __atomic_load_n(&sum, __ATOMIC_RELAXED);
            __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
        }
        /* not for ever: the agent may be on no processor */
        const double end = omp_get_wtime() + 0.3;
        while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE) && omp_get_wtime() < end)
            sched_yield();
    }
    CHECK_EQ(sum, lots);
    return early;
}

int main(void) {
    if (omp_get_num_procs() < 2)
        return 0; /* the agent would keep the thread from its processor */
    int early = -1;
    for (int tries = 0; early < 0 && tries < 100; ++tries)
        early = at_once();
    CHECK(early > lots / 2);
    return 0;
}
