/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: OMP_STACKSIZE=8M
 * Tasks that are suspended while they hold a lock that others want, in a process without address
 * space for more stacks. A task that waits for the lock, and the holder, must not be under one that
 * wants it, too: nobody would ever unlock it, or be woken for it. (OMP_STACKSIZE=8M: see
 * stacks_refused.c)
 */
#include "limited_memory.h"
#include "sennit_door.h"

enum { tasks = 100 };

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static int inside, done;

static void hold(void) {
    CHECK_EQ(inside++, 0);
    CHECK_EQ(DOOR(sennit_task_wait_ns)(100000, NULL), SENNIT_SUCCESS);
    --inside;
    ++done;
}

static void by_critical(void) {
#pragma omp critical
    hold();
}
static void by_named_critical(void) {
#pragma omp critical(named)
    hold();
}
static void by_lock(void) {
    omp_set_lock(&lock);
    hold();
    omp_unset_lock(&lock);
}
static void by_test_lock(void) {
    if (!omp_test_lock(&lock))
        omp_set_lock(&lock);
    hold();
    omp_unset_lock(&lock);
}
static void by_nest_lock(void) {
    omp_set_nest_lock(&nest_lock);
    omp_set_nest_lock(&nest_lock);
    hold();
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
}

int main(void) {
    void (*const ways[])(void) = {by_critical, by_named_critical, by_lock, by_test_lock,
                                  by_nest_lock};
    int warm = 0;
#pragma omp parallel reduction(+ : warm)
    warm += 1;
    CHECK_EQ(warm, check_threads());
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    limit_addresses(60 << 20);
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; ++way) {
        done = 0;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < tasks; ++i) {
#pragma omp task
            ways[way]();
        }
        CHECK_EQ(done, tasks);
    }
    omp_destroy_nest_lock(&nest_lock);
    omp_destroy_lock(&lock);
    return 0;
}
