/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="not sanitized" # of the runtime alone, and long
 * test: threads=2
 * Thousands of suspended tasks are inside regions of their own, which ask for more threads than the
 * system gives a process: they get fewer, one line says so, and all of them end.
 */
#include "sennit_door.h"

enum { tasks = 3000, asked = 12 };
static sennit_task *sleeper[tasks];

static int read_now(const int *counter) {
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

int main(void) {
    int asleep = 0, done = 0, awake = 0;
    omp_set_max_active_levels(3);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i) shared(asleep, awake, done)
            {
#pragma omp parallel num_threads(asked)
#pragma omp single
#pragma omp task
                {
                    sleeper[i] = door_self();
                    __atomic_add_fetch(&asleep, 1, __ATOMIC_ACQ_REL);
                    DOOR(sennit_task_suspend)(sleeper[i]);
                    __atomic_add_fetch(&awake, 1, __ATOMIC_ACQ_REL);
                }
                __atomic_add_fetch(&done, 1, __ATOMIC_ACQ_REL);
            }
        }
        while (read_now(&asleep) < tasks) {
#pragma omp taskyield
        }
        CHECK_EQ(read_now(&awake), 0);
        for (int i = 0; i < tasks; ++i)
            CHECK_EQ(DOOR(sennit_task_resume)(sleeper[i]), SENNIT_SUCCESS);
    }
    CHECK_EQ(awake, tasks);
    CHECK_EQ(done, tasks);
    return 0;
}
