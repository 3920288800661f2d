/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lm
 * test:
 * The rounding mode of tasks that are suspended: each finds its own again, on whatever stack; tasks
 * that start meanwhile and polling services do not see it.
 */
#include "sennit_door.h"
#include <fenv.h>

enum { tasks = 300 };
static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static sennit_task *sleeper[tasks];
static int wrong_calls, calls;

static int poll_service(void *argument) {
    (void)argument;
    __atomic_add_fetch(&wrong_calls, fegetround() != FE_TONEAREST, __ATOMIC_RELAXED);
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELEASE);
    return 0;
}

static void wait_for(const int *count, int enough) {
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < enough) {
#pragma omp taskyield
    }
}

int main(void) {
    sennit_poll_service *service;
    CHECK_EQ(DOOR(sennit_poll_register)("modes", poll_service, NULL, &service), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_pending)(service, 1), SENNIT_SUCCESS);
    for (int round = 0; round < 2; ++round) { /* the second time on used stacks */
        int asleep = 0;
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(asleep) firstprivate(i)
                {
                    CHECK_EQ(fegetround(), FE_TONEAREST);
                    sleeper[i] = door_self();
                    fesetround(modes[i % 3]);
                    __atomic_add_fetch(&asleep, 1, __ATOMIC_RELEASE);
                    DOOR(sennit_task_suspend)(sleeper[i]);
                    CHECK_EQ(fegetround(), modes[i % 3]);
#pragma omp taskyield
                    CHECK_EQ(fegetround(), modes[i % 3]);
                    fesetround(FE_TONEAREST);
                }
            }
            wait_for(&asleep, tasks);
            CHECK_EQ(fegetround(), FE_TONEAREST);
            wait_for(&calls, __atomic_load_n(&calls, __ATOMIC_ACQUIRE) + 10);
            for (int i = tasks - 1; i >= 0; --i)
                DOOR(sennit_task_resume)(sleeper[i]);
        }
    }
    CHECK_EQ(DOOR(sennit_poll_pending)(service, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_unregister)(service), SENNIT_SUCCESS);
    CHECK_EQ(wrong_calls, 0);
    return 0;
}
