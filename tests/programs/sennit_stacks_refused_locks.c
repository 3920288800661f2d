/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: OMP_STACKSIZE=8M
 * Tasks that are suspended while they hold a lock that others want, in a process without address
 * space for more stacks. A task that waits for the lock, and the holder, must not be under one that
 * wants it, too: nobody would ever unlock it, or be woken for it. (OMP_STACKSIZE=8M: see
 * stacks_refused.c)
 */
#include "sennit_door.h"

#include <sys/resource.h>

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
static void limit_address_space(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    const rlim_t limit = (rlim_t)(pages * sysconf(_SC_PAGESIZE)) + (60 << 20);
    CHECK_EQ(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}), 0);
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
    limit_address_space();
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
