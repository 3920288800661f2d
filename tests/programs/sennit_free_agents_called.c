/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler} threads=1 SENNIT_FREE_AGENTS=1 SENNIT_THREADSET=pool
 * run: omp.{program}.fa.{compiler} threads=1 SENNIT_FREE_AGENTS=1 SENNIT_THREADSET=pool
 *     SENNIT_POLICY=fa
 * An idle free agent is called where no worker makes a task: when the end of a region leaves a
 * processor, and when a thread that has never used OpenMP fulfils an event, which releases a task.
 * The only thread of the tasks' team comes to no scheduling point meanwhile. When the task is
 * made, no agent can come: so only the call can bring one.
 */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

int omp_is_free_agent(void) __attribute__((weak)); /* newer than the compilers' omp.h */

static int by_agent, done, begun, made;

static void work(void) {
    by_agent = omp_is_free_agent();
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
}

static void let_agent_sleep(void) {
    usleep(10000);
}

static void wait_for(const int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* Not for ever: the agent may be on no processor. */
static void wait_a_while_for_the_task(void) {
    for (int i = 0; i < 500 && !__atomic_load_n(&done, __ATOMIC_ACQUIRE); ++i)
        usleep(100);
}

static void *take_all_processors(void *nothing) {
#pragma omp parallel num_threads(omp_get_num_procs())
    {
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
        wait_for(&made);
    }
    return nothing;
}

static void after_a_region(void) {
    pthread_t other;
    CHECK_EQ(pthread_create(&other, NULL, take_all_processors, NULL), 0);
    wait_for(&begun);
#pragma omp task
    work();
    let_agent_sleep();
    __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
    wait_a_while_for_the_task();
    CHECK_EQ(pthread_join(other, NULL), 0);
}

static void *fulfil(void *event) {
    omp_fulfill_event(*(omp_event_handle_t *)event);
    return NULL;
}

static void by_a_stranger(void) {
    static int order;
    omp_event_handle_t last = (omp_event_handle_t)0;
#pragma omp task depend(out : order) detach(last) if (0)
    begun = 1;
    CHECK_EQ(begun, 1); /* here, and not by the agent, which might stay a while */
#pragma omp task depend(in : order)
    {
        CHECK_EQ(order, 0);
        work();
    }
    let_agent_sleep();
    pthread_t stranger;
    CHECK_EQ(pthread_create(&stranger, NULL, fulfil, &last), 0);
    wait_a_while_for_the_task();
    CHECK_EQ(pthread_join(stranger, NULL), 0);
}

static int an_agent_comes(void (*tasks)(void)) {
    int in_time = 0;
    by_agent = done = begun = made = 0;
#pragma omp parallel num_threads(1)
    {
        tasks();
        in_time = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
    }
    CHECK_EQ(done, 1);
    return in_time && by_agent;
}

int main(void) {
    if (omp_get_num_procs() < 2)
        return 0; /* the agent would keep the thread from its processor */
    for (int tries = 0; !an_agent_comes(by_a_stranger); ++tries)
        CHECK(tries < 100);
    for (int tries = 0; !an_agent_comes(after_a_region); ++tries)
        CHECK(tries < 100);
    return 0;
}
