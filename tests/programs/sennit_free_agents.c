/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 6.0, threadset(omp_pool), through sennit.h: an idle thread that belongs to no team runs an
 * explicit task when its creator allows it. There it is no thread of the team, and all else is as
 * in the team: sizes, levels, children, taskwait, locks, nested regions, barriers that wait for it.
 */
#include "sennit_door.h"

int omp_is_free_agent(void); /* newer than the compilers' omp.h */
int omp_ancestor_is_free_agent(int level);
enum { unassigned = -2 }; /* omp_unassigned_thread */

static int is_free_agent(void) {
    return DOOR(omp_is_free_agent)();
}
static int ancestor_is_free_agent(int level) {
    return DOOR(omp_ancestor_is_free_agent)(level);
}

static void threadset(enum sennit_threadset set) {
    CHECK_EQ(DOOR(sennit_task_threadset)(set), SENNIT_SUCCESS);
}

/* Without a scheduling point. */
static void wait_a_while_for(const int *flag) {
    for (int i = 0; i < 1000 && !__atomic_load_n(flag, __ATOMIC_ACQUIRE); ++i)
        usleep(100);
}

/* The creator, alone in its team, waits for the task: another thread runs it, unless no agent is
 * idle; then this is false. */
static int somebody_else_runs_it(void) {
    int done = 0, agent = 0, children = 0, nested = 0;
#pragma omp parallel num_threads(1)
    {
        CHECK(!is_free_agent());
        threadset(SENNIT_THREADSET_POOL);
#pragma omp task shared(done, agent, children, nested)
        if ((agent = is_free_agent())) {
            CHECK_EQ(omp_get_thread_num(), unassigned);
            CHECK_EQ(omp_get_ancestor_thread_num(1), unassigned);
            CHECK(ancestor_is_free_agent(1));
            CHECK(!ancestor_is_free_agent(0));
            CHECK_EQ(omp_get_num_threads(), 1);
            CHECK_EQ(omp_get_level(), 1);
            __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
            /* what it makes is the team's */
            for (int i = 0; i < 5; ++i) {
#pragma omp task shared(children) depend(inout : children)
                {
                    CHECK(!is_free_agent());
                    CHECK_EQ(omp_get_thread_num(), 0);
                    children += 1;
                }
            }
#pragma omp taskwait
            CHECK_EQ(children, 5);
#pragma omp task if (0) shared(children)
            {
                CHECK(is_free_agent());
                children += 1;
            }
#pragma omp parallel num_threads(2) reduction(+ : nested)
            {
                CHECK(!is_free_agent());
                CHECK(ancestor_is_free_agent(1));
                CHECK_EQ(omp_get_num_threads(), 2);
                CHECK_EQ(omp_get_level(), 2);
                nested += 1;
            }
            CHECK(is_free_agent());
#pragma omp task shared(children)
            children += 1; /* outlives its parent; the barrier waits for it */
        }
        wait_a_while_for(&done);
        threadset(SENNIT_THREADSET_TEAM);
    }
    if (!agent)
        return 0;
    CHECK_EQ(children, 7);
    CHECK(nested >= 1 && nested <= 2);
    return 1;
}

/* More tasks than agents, and their creator runs none: agents go on with what waits in its queue,
 * unless there are too few that are idle; then this is false. */
static int they_run_all(void) {
    const int all = omp_get_num_procs() + 8;
    int created = 0, done = 0, result = 0;
#pragma omp parallel num_threads(1)
    {
        threadset(SENNIT_THREADSET_POOL);
        for (int i = 0; i < all; ++i) {
#pragma omp task shared(created, done)
            {
                wait_a_while_for(&created);
                __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
            }
        }
        __atomic_store_n(&created, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < 1000 && __atomic_load_n(&done, __ATOMIC_ACQUIRE) < all; ++i)
            usleep(100);
        result = __atomic_load_n(&done, __ATOMIC_ACQUIRE) == all;
        threadset(SENNIT_THREADSET_TEAM);
    }
    CHECK_EQ(done, all);
    return result;
}

static void many_of_them(int size) {
    enum { many = 300 };
    int sum = 0, locked = 0, agents = 0, released = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(size)
    {
        threadset(SENNIT_THREADSET_POOL);
        for (int i = 0; i < many; ++i) {
#pragma omp task firstprivate(i) shared(sum, locked, agents, lock)
            {
                const int agent = is_free_agent();
                if (i % 50 == 7)
                    CHECK_EQ(DOOR(sennit_task_wait_ns)(200000, NULL), SENNIT_SUCCESS);
                CHECK_EQ(is_free_agent(), agent); /* tied */
                omp_set_lock(&lock);
                locked += 1;
                omp_unset_lock(&lock);
                if (i % 10 == 3) {
#pragma omp task shared(sum)
                    {
#pragma omp atomic
                        sum += 1000;
                    }
                }
#pragma omp atomic
                sum += 1;
#pragma omp atomic
                agents += agent;
            }
        }
        /* dependences are kept, whoever runs the predecessor */
#pragma omp single nowait
        for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : released) shared(released)
            released += 1;
        }
        if (omp_get_thread_num() % 2) {
#pragma omp taskwait
        }
    }
    CHECK_EQ(sum, size * many * 101);
    CHECK_EQ(locked, size * many);
    CHECK_EQ(released, 20);
    CHECK(agents >= 0 && agents <= size * many);
    omp_destroy_lock(&lock);
}

int main(void) {
    omp_set_max_active_levels(3);
    CHECK_EQ(DOOR(sennit_task_threadset)((enum sennit_threadset)7), SENNIT_ERR_PARAMETER);
    CHECK(!is_free_agent());
    for (int round = 0; round < 20; ++round) {
        for (int tries = 0; !somebody_else_runs_it(); ++tries)
            CHECK(tries < 100);
        many_of_them(1 + round % 7);
    }
    if (omp_get_num_procs() > 1) /* there they would keep the creator from its processor */
        for (int tries = 0; !they_run_all(); ++tries)
            CHECK(tries < 100);
    return 0;
}
