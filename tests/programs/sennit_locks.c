/* SPDX-License-Identifier: Apache-2.0
 * test:
 * Locks park tasks, not threads. There is one thread. A task is suspended while it holds a lock or
 * is inside a critical region. Tasks that want it park, and the tasks that resume the holder run.
 */
#include "sennit_door.h"

/* volatile: gcc thinks that taskyield changes no static variable */
static sennit_task *volatile holder;
static int order;

static void hold_and_suspend(void) {
    holder = door_self();
    CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
    CHECK_EQ(order++, 0);
}

/* The holder comes first, then `contenders` that must wait, then the task that resumes it. */
#define SCENE(acquire, release)                                                                    \
    do {                                                                                           \
        order = 0;                                                                                 \
        holder = NULL;                                                                             \
        _Pragma("omp task") {                                                                      \
            acquire;                                                                               \
            hold_and_suspend();                                                                    \
            release;                                                                               \
        }                                                                                          \
        while (!holder) {                                                                          \
            _Pragma("omp taskyield")                                                               \
        }                                                                                          \
        for (int contender = 0; contender < 10; ++contender) {                                     \
            _Pragma("omp task") {                                                                  \
                acquire;                                                                           \
                CHECK(order++ > 0);                                                                \
                release;                                                                           \
            }                                                                                      \
        }                                                                                          \
        _Pragma("omp task") {                                                                      \
            _Pragma("omp taskyield") CHECK_EQ(order, 0);                                           \
            CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);                            \
        }                                                                                          \
        _Pragma("omp taskwait") CHECK_EQ(order, 11);                                               \
    } while (0)

static void in_critical(void (*inside)(void)) {
#pragma omp critical
    inside();
}

static void count(void) {
    CHECK(order++ > 0);
}

int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest_lock;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(1)
    {
        SCENE(omp_set_lock(&lock), omp_unset_lock(&lock));
        SCENE(omp_set_nest_lock(&nest_lock), omp_unset_nest_lock(&nest_lock));
        order = 0;
        holder = NULL;
#pragma omp task
        in_critical(hold_and_suspend);
        while (!holder) {
#pragma omp taskyield
        }
        for (int contender = 0; contender < 10; ++contender) {
#pragma omp task
            in_critical(count);
        }
#pragma omp task
        {
#pragma omp taskyield
            CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
        }
#pragma omp taskwait
        CHECK_EQ(order, 11);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest_lock);
    return 0;
}
