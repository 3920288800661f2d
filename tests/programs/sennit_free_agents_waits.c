/* SPDX-License-Identifier: Apache-2.0
 * run: omp.{program}.{compiler} threads=1 SENNIT_FREE_AGENTS=1
 * run: omp.{program}.fa.{compiler} threads=1 SENNIT_FREE_AGENTS=1 SENNIT_POLICY=fa
 * run: omp.{program}.many.{compiler} threads=1 SENNIT_FREE_AGENTS=64 -- many
 * Free agents (sennit_free_agents.c) whose tasks wait. The only agent runs what its task waits for:
 * children, and the tasks of a taskgroup. It may begin a reduction. While its task is suspended it
 * runs another one, and when it is free it comes to the team whose task found it busy. And while
 * tasks are suspended on many agents, none is lost of those that come.
 */
#include "sennit_door.h"

#include <sched.h>
#include <unistd.h>

int omp_is_free_agent(void); /* newer than the compilers' omp.h */

static int is_free_agent(void) {
    return DOOR(omp_is_free_agent)();
}

static void offer(enum sennit_threadset set) {
    CHECK_EQ(DOOR(sennit_task_threadset)(set), SENNIT_SUCCESS);
}

/* Without a scheduling point, and not for ever: agents may be busy, or on no processor. */
static int wait_a_while_for(const int *count, int least) {
    for (int i = 0; i < 3000 && __atomic_load_n(count, __ATOMIC_ACQUIRE) < least; ++i)
        usleep(100);
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) >= least;
}

enum { some = 8 };
static int by_agents, done, sum;

static void work(int i) {
    __atomic_fetch_add(&by_agents, is_free_agent(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum, i, __ATOMIC_RELEASE);
}

static void children(void) {
    for (int i = 0; i < some; ++i) {
#pragma omp task firstprivate(i)
        work(i);
    }
#pragma omp taskwait
    CHECK_EQ(sum, 28);
}

/* A chain: each child releases the next one. */
static void chain(void) {
    int last = 0;
    for (int i = 0; i < some; ++i) {
#pragma omp task depend(inout : last) firstprivate(i) shared(last)
        {
            CHECK_EQ(last, i);
            last = i + 1;
            work(i);
        }
    }
#pragma omp taskwait
    CHECK_EQ(last, some);
}

static void grandchildren(void) {
#pragma omp taskgroup
    for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i)
        {
            offer(SENNIT_THREADSET_POOL);
            for (int j = 0; j < some / 2; ++j) {
#pragma omp task firstprivate(i, j)
                work(some / 2 * i + j);
            }
        }
    }
    CHECK_EQ(sum, 28);
}

/* Can the agent, alone, run all of it while the only thread of the team cannot? */
static int agent_runs(void (*body)(void)) {
    int agent = 0;
    by_agents = done = sum = 0;
#pragma omp parallel num_threads(1)
    {
        offer(SENNIT_THREADSET_POOL);
#pragma omp task shared(agent)
        {
            agent = is_free_agent();
            if (agent) {
                offer(SENNIT_THREADSET_POOL);
                body();
            }
            __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
        }
        wait_a_while_for(&done, 1);
    }
    return agent && by_agents == some;
}

/* The agent's own task is none of those that have private copies. */
static int reduces(void) {
    int agent = 0, total = 1, product = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        offer(SENNIT_THREADSET_POOL);
#pragma omp task shared(agent, total, product)
        {
            agent = is_free_agent();
#pragma omp taskgroup task_reduction(+ : total) task_reduction(* : product)
            {
                for (int i = 1; i <= 8; ++i) {
#pragma omp task in_reduction(+ : total) in_reduction(* : product) firstprivate(i)
                    {
                        CHECK(!is_free_agent());
                        total += i;
                        product *= i;
                    }
                }
#ifdef __clang__ /* of GCC's making, only threads of the team have copies */
#pragma omp task if (0) in_reduction(+ : total)
                total += 100;
#else
#pragma omp task in_reduction(+ : total)
                total += 100;
#endif
            }
            CHECK_EQ(total, 137);
            CHECK_EQ(product, 40320);
#pragma omp taskloop reduction(+ : total) grainsize(1)
            for (int i = 0; i < 8; ++i)
                total += i;
            CHECK_EQ(total, 165);
        }
        usleep(1000); /* the agent comes first */
    }
    return agent;
}

/* An agent has one thread for both. */
static int runs_another_while_it_is_suspended(void) {
    static sennit_task *first;
    int agents = 0, begun = 0, second = 0, ended = 0;
#pragma omp parallel num_threads(1)
    {
        offer(SENNIT_THREADSET_POOL);
#pragma omp task shared(agents, begun, ended)
        {
            agents += is_free_agent();
            first = door_self();
            __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
            CHECK_EQ(DOOR(sennit_task_suspend)(first), SENNIT_SUCCESS);
            __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
        }
        if (wait_a_while_for(&begun, 1)) {
#pragma omp task shared(agents, second)
            {
                agents += is_free_agent();
                __atomic_store_n(&second, 1, __ATOMIC_RELEASE);
            }
            wait_a_while_for(&second, 1);
        } else {
            while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
            }
        }
        CHECK_EQ(DOOR(sennit_task_resume)(first), SENNIT_SUCCESS);
        wait_a_while_for(&ended, 1);
    }
    CHECK_EQ(ended, 1);
    return agents == 2;
}

/* Each task is suspended until all have begun: the agent runs them all. */
static int runs_all_that_are_suspended(void) {
    static sennit_task *tasks[some];
    int agents = 0, begun = 0, ended = 0;
#pragma omp parallel num_threads(1)
    {
        offer(SENNIT_THREADSET_POOL);
        for (int i = 0; i < some; ++i) {
#pragma omp task shared(agents, begun, ended) firstprivate(i)
            {
                __atomic_fetch_add(&agents, is_free_agent(), __ATOMIC_RELAXED);
                tasks[i] = door_self();
                __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
                CHECK_EQ(DOOR(sennit_task_suspend)(tasks[i]), SENNIT_SUCCESS);
                __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
            }
        }
        wait_a_while_for(&begun, some);
        while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < some) {
#pragma omp taskyield
        }
        for (int i = 0; i < some; ++i)
            CHECK_EQ(DOOR(sennit_task_resume)(tasks[i]), SENNIT_SUCCESS);
    }
    CHECK_EQ(ended, some);
    return agents == some;
}

/* Two teams; the second one's task comes while the only agent has the first one's. */
static int comes_to_the_next_team(void) {
    int agents = 0, begun = 0, made = 0, second = 0;
#pragma omp parallel num_threads(2)
    {
        const int creator = omp_get_thread_num();
#pragma omp parallel num_threads(1)
        {
            offer(SENNIT_THREADSET_POOL);
            if (creator == 0) {
#pragma omp task shared(agents, begun, made)
                {
                    __atomic_fetch_add(&agents, is_free_agent(), __ATOMIC_RELAXED);
                    __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
                    const double end = omp_get_wtime() + 0.3; /* not suspended */
                    while (!__atomic_load_n(&made, __ATOMIC_ACQUIRE) && omp_get_wtime() < end)
                        sched_yield();
                }
            } else {
                wait_a_while_for(&begun, 1);
#pragma omp task shared(agents, second)
                {
                    __atomic_fetch_add(&agents, is_free_agent(), __ATOMIC_RELAXED);
                    __atomic_store_n(&second, 1, __ATOMIC_RELEASE);
                }
                __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
            }
            wait_a_while_for(&second, 1);
        }
    }
    return agents == 2;
}

/* While tasks are suspended on many agents, many others come. */
static void many(void) {
    for (int round = 0; round < 30; ++round) {
        int begun = 0, ended = 0;
#pragma omp parallel num_threads(1)
        {
            offer(SENNIT_THREADSET_POOL);
            for (int i = 0; i < 24; ++i) {
#pragma omp task shared(begun, ended)
                {
                    __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
                    CHECK_EQ(DOOR(sennit_task_wait_ns)(1000000, NULL), SENNIT_SUCCESS);
                    __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
                }
            }
            for (int i = 0; i < 100 && __atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 24; ++i)
                usleep(100);
            for (int i = 0; i < 40; ++i) {
#pragma omp task shared(ended)
                __atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
            }
        }
        CHECK_EQ(ended, 64);
    }
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) {
        many();
        return 0;
    }
    if (omp_get_num_procs() < 2)
        return 0; /* agents would keep the thread from its processor */
    static void (*const bodies[])(void) = {children, chain, grandchildren};
    for (int i = 0; i < (int)(sizeof bodies / sizeof *bodies); ++i)
        for (int tries = 0; !agent_runs(bodies[i]); ++tries)
            CHECK(tries < 100);
    static int (*const others[])(void) = {reduces, runs_another_while_it_is_suspended,
                                          runs_all_that_are_suspended, comes_to_the_next_team};
    for (int i = 0; i < (int)(sizeof others / sizeof *others); ++i)
        for (int tries = 0; !others[i](); ++tries)
            CHECK(tries < 100);
    return 0;
}
