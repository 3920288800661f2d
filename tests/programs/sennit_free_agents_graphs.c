/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler}.{policy} policy=steal|fifo|lifo|ma3|fa threads=1
 *     SENNIT_FREE_AGENTS=1 SENNIT_POLICY={policy}
 * run: omp.{program}.{compiler}.asked threads=1 SENNIT_THREADSET=pool -- asked
 * Free agents (sennit_free_agents.c) run whatever is ready, under each policy and in its order:
 * tasks with dependences, once these are released, untied tasks, tasks that are suspended, parts of
 * a taskloop. Their team has one thread, which runs none of them: it waits where no task can start.
 */
#define _GNU_SOURCE
#include "sennit_door.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int omp_is_free_agent(void); /* newer than the compilers' omp.h */

static int is_free_agent(void) {
    return DOOR(omp_is_free_agent)();
}

/* Clang's own door to tasks. */
struct kmp_task {
    void *shareds;
    int (*routine)(int, struct kmp_task *);
    int part;
    void *data[2];
};
int __kmpc_global_thread_num(void *location);
struct kmp_task *__kmpc_omp_task_alloc(void *location, int thread, int flags, size_t size,
                                       size_t shareds, int (*routine)(int, struct kmp_task *));
int __kmpc_omp_task(void *location, int thread, struct kmp_task *task);
enum { tied = 1, free_agent_eligible = 0x80 };

static int asked; /* for all tasks, by SENNIT_THREADSET=pool */
static int done, by_agents;
static int order[16], ran;

static void offer(enum sennit_threadset set) {
    if (!asked)
        CHECK_EQ(DOOR(sennit_task_threadset)(set), SENNIT_SUCCESS);
}

static void note_done(void) {
    __atomic_fetch_add(&by_agents, is_free_agent(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

/* Without a scheduling point, and not for ever: agents may be busy, or on no processor. */
static void wait_a_while_for(const int *count, int least) {
    for (int i = 0; i < 3000 && __atomic_load_n(count, __ATOMIC_ACQUIRE) < least; ++i)
        usleep(100);
}

static int task_of_clang(int thread, struct kmp_task *task) {
    (void)thread, (void)task;
    note_done();
    return 0;
}

/* How many tasks each of those makes. */
static int graph(void) {
    static int x, y[3];
    x = 0;
#pragma omp task depend(out : x)
    {
        CHECK_EQ(DOOR(sennit_task_wait_ns)(100000, NULL), SENNIT_SUCCESS);
        x = 1;
        note_done();
    }
    for (int i = 0; i < 3; ++i) {
#pragma omp task depend(in : x) depend(out : y[i]) firstprivate(i)
        {
            CHECK_EQ(x, 1);
            y[i] = i + 1;
            note_done();
        }
    }
#pragma omp task depend(in : y[0], y[1], y[2]) depend(inout : x)
    {
        CHECK_EQ(y[0] + y[1] + y[2], 6);
        x = 2;
        note_done();
    }
    return 5;
}

static int suspended(void) {
    for (int i = 0; i < 4; ++i) {
#pragma omp task
        {
            const int agent = is_free_agent();
            const pid_t thread = gettid();
            CHECK_EQ(DOOR(sennit_task_wait_ns)(200000, NULL), SENNIT_SUCCESS);
            CHECK_EQ(is_free_agent(), agent); /* tied */
            CHECK_EQ(gettid(), thread);
            note_done();
        }
    }
    return 4;
}

static int untied(void) {
    for (int i = 0; i < 4; ++i) {
#pragma omp task untied
        {
#pragma omp taskyield
            DOOR(sennit_task_wait_ns)(1000, NULL);
            note_done();
        }
    }
    return 4;
}

static int exclusive(void) {
    static int at_work, sum;
    sum = 0;
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(mutexinoutset : sum)
        {
            CHECK_EQ(__atomic_fetch_add(&at_work, 1, __ATOMIC_RELAXED), 0);
            sum += 1;
            usleep(50);
            __atomic_fetch_sub(&at_work, 1, __ATOMIC_RELAXED);
            note_done();
        }
    }
    return 4;
}

static int loop(void) {
#pragma omp taskloop nogroup grainsize(1)
    for (int i = 0; i < 4; ++i)
        note_done();
    return 4;
}

static int asked_by_compiler(void) {
    offer(SENNIT_THREADSET_TEAM);
    __typeof__(__kmpc_omp_task_alloc) *const make = DOOR(__kmpc_omp_task_alloc);
    const int thread = DOOR(__kmpc_global_thread_num)(NULL);
    DOOR(__kmpc_omp_task)
    (NULL, thread,
     make(NULL, thread, tied | free_agent_eligible, sizeof(struct kmp_task), 0, task_of_clang));
    return 1;
}

/* Has an agent, or have some, run them all while the thread of the team could not? */
static int others_run(int (*make)(void)) {
    int made = 0, in_time = 0;
    done = by_agents = 0;
#pragma omp parallel num_threads(1)
    {
        offer(SENNIT_THREADSET_POOL);
        made = make();
        wait_a_while_for(&done, made);
        in_time = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
        offer(SENNIT_THREADSET_TEAM);
#pragma omp taskgroup
        {
#pragma omp task
            CHECK(1);
        }
    }
    CHECK_EQ(done, made);
    return in_time == made && by_agents == made;
}

/* One agent; tasks come while it is busy, and it goes on with them. */
static int in_order_of(const char *policy) {
    int begun = 0, go = 0;
    enum { many = 6 };
    static const int priorities[many] = {1, 3, 0, 2, 3, 0};
    ran = done = by_agents = 0;
#pragma omp parallel num_threads(1)
    {
        offer(SENNIT_THREADSET_POOL);
#pragma omp task shared(begun, go)
        {
            __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
            const double end = omp_get_wtime() + 0.3; /* not suspended: the agent is busy */
            while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE) && omp_get_wtime() < end)
                sched_yield();
        }
        wait_a_while_for(&begun, 1);
        for (int i = 0; i < many; ++i) {
#pragma omp task firstprivate(i) priority(strcmp(policy, "ma3") ? 0 : priorities[i])
            {
                order[ran++] = i;
                note_done();
            }
        }
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        wait_a_while_for(&done, many);
    }
    CHECK_EQ(done, many);
    if (!begun || by_agents != many)
        return 0;
    static const int forward[] = {0, 1, 2, 3, 4, 5}, backward[] = {5, 4, 3, 2, 1, 0},
                     by_priority[] = {1, 4, 3, 0, 2, 5};
    CHECK(memcmp(order,
                 !strcmp(policy, "lifo")  ? backward
                 : !strcmp(policy, "ma3") ? by_priority
                                          : forward,
                 sizeof forward) == 0);
    return 1;
}

int main(int count, char **arguments) {
    asked = count > 1 && strcmp(arguments[1], "asked") == 0;
    static int (*const makes[])(void) = {graph,     suspended, untied,
                                         exclusive, loop,      asked_by_compiler};
    const char *const policy = getenv("SENNIT_POLICY");
    if (omp_get_num_procs() < 2)
        return 0; /* agents would keep the thread from its processor */
    for (int i = 0; i < (int)(sizeof makes / sizeof *makes); ++i) {
        int tries = 0;
        while (!others_run(makes[i]) && ++tries < 100)
            ;
        CHECK(tries < 100);
    }
    for (int tries = 0; policy && !in_order_of(policy); ++tries)
        CHECK(tries < 100);
    return 0;
}
