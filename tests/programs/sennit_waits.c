/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * While a task waits (in a taskwait, a taskgroup, a taskwait depend, an undeferred task, a barrier,
 * the end of a nested region), its thread runs other tasks. A waiting parent is never buried under
 * a child that waits for it. There is one thread; each waiter waits for its later siblings.
 */
#include "sennit_door.h"

enum { waiters = 5 };
static sennit_task *asleep[waiters];
static volatile int sleeping, woken;

static void sleep_until_woken(int id) {
    asleep[id] = door_self();
    sleeping += 1;
    CHECK_EQ(DOOR(sennit_task_suspend)(asleep[id]), SENNIT_SUCCESS);
    woken += 1;
}

static void wait_in(int id) {
    int x = 0;
    const int before = woken;
    switch (id) {
    case 0: {
#pragma omp task
        sleep_until_woken(id);
#pragma omp taskwait
        break;
    }
    case 1: {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                sleep_until_woken(id);
            }
        }
        break;
    }
    case 2: {
#pragma omp task depend(out : x)
        sleep_until_woken(id);
#pragma omp taskwait depend(in : x)
        break;
    }
    case 3: {
#pragma omp task if (0) shared(x)
        {
            sleep_until_woken(id);
            x = 1;
        }
        CHECK_EQ(x, 1);
        break;
    }
    case 4: {
#pragma omp parallel num_threads(1)
        {
#pragma omp task
            sleep_until_woken(id);
        }
        break;
    }
    }
    CHECK(woken > before);
}

int main(void) {
    for (int round = 0; round < 20; ++round) {
        sleeping = woken = 0;
#pragma omp parallel num_threads(1)
        {
            for (int id = 0; id < waiters; ++id) {
#pragma omp task
                wait_in(id);
            }
#pragma omp task
            {
                while (sleeping < waiters) {
#pragma omp taskyield
                }
                for (int k = 0; k < waiters; ++k)
                    CHECK_EQ(DOOR(sennit_task_resume)(asleep[(k * 2 + round) % waiters]),
                             SENNIT_SUCCESS);
            }
        }
        CHECK_EQ(woken, waiters);
    }
    return 0;
}
