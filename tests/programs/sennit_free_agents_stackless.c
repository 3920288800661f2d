/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * run: omp.{program}.{compiler} threads=1 OMP_STACKSIZE=8M SENNIT_FREE_AGENTS=1
 *     SENNIT_THREADSET=pool
 * run: omp.{program}.fa.{compiler} threads=1 OMP_STACKSIZE=8M SENNIT_FREE_AGENTS=1
 *     SENNIT_THREADSET=pool SENNIT_POLICY=fa
 * There is no stack for another task while one waits on the only free agent. The agent runs what
 * that task waits for on top of it, when it becomes ready, though others are queued before and
 * behind it. The only thread of their team comes to no scheduling point meanwhile.
 */
#include "limited_memory.h"

int omp_is_free_agent(void) __attribute__((weak)); /* newer than the compilers' omp.h */

enum { others = 3, most_tries = 30 };

static omp_event_handle_t first_event;
static int begun, first_ran, second_by_agent, over, sum;

static void set(int *flag) {
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* Without a scheduling point, and not for ever: the agent may be on no processor. */
static int wait_a_while_for(const int *flag) {
    for (int i = 0; i < 1000 && !__atomic_load_n(flag, __ATOMIC_ACQUIRE); ++i)
        usleep(100);
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* The second one is released by the event of the first one. */
static void waits_for_two(void) {
    int order = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task depend(out : order) detach(event)
    set(&first_ran);
    first_event = event;
#pragma omp task depend(in : order) shared(order)
    {
        CHECK_EQ(order, 0);
        second_by_agent = omp_is_free_agent();
    }
    set(&begun);
#pragma omp taskwait
    set(&over);
}

static void make_others(void) {
    for (int i = 0; i < others; ++i) {
#pragma omp task
        __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
    }
}

/* Does the agent end the task that waits, before the thread does? */
static int agent_ends_it(void) {
    int agent = 0, in_time = 0;
    begun = first_ran = second_by_agent = over = sum = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(agent)
        {
            agent = omp_is_free_agent();
            waits_for_two();
        }
        if (wait_a_while_for(&begun) && wait_a_while_for(&first_ran)) {
            usleep(2000); /* the agent has nothing to do, and sleeps */
            make_others();
            omp_fulfill_event(first_event);
            make_others();
            in_time = wait_a_while_for(&over);
        } else {
            while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
            }
            omp_fulfill_event(first_event);
        }
    }
    CHECK_EQ(over, 1);
    CHECK(sum == 0 || sum == 2 * others);
    return agent && in_time && second_by_agent;
}

int main(void) {
    if (omp_get_num_procs() < 2)
        return 0; /* the agent would keep the thread from its processor */
#pragma omp parallel num_threads(1)
#pragma omp task
    set(&begun); /* there is an agent now */
    limit_addresses(20 << 20);
    for (int tries = 0; !agent_ends_it(); ++tries)
        CHECK(tries < most_tries);
    return 0;
}
