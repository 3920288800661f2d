/* SPDX-License-Identifier: Apache-2.0
 * test, tool:
 * Issue 2, bench: running a task in place must not bury its creator. A throttled creator goes on
 * when the task that it made room for suspends: 20,000 detachable tasks, each fulfilled by a later
 * one, and 5,000 suspended ones, each resumed by a later one, from one thread.
 */
#include "sennit_door.h"

enum { detached = 20000, suspended = 5000 };

int main(void) {
    static omp_event_handle_t events[detached];
    static sennit_task *volatile sleeper[suspended];
    int completed = 0, woken = 0, x = 0;
#pragma omp parallel num_threads(1)
    {
        for (int i = 0; i < detached; ++i) {
            omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) shared(completed)
            completed += 1;
            events[i] = event;
        }
        for (int i = detached - 1; i >= 0; --i) {
#pragma omp task
            omp_fulfill_event(events[i]);
        }
#pragma omp taskwait
        CHECK_EQ(completed, detached);
        for (int i = 0; i < suspended; ++i) {
#pragma omp task shared(woken) depend(out : sleeper[i])
            {
                sleeper[i] = door_self();
                CHECK_EQ(DOOR(sennit_task_suspend)(sleeper[i]), SENNIT_SUCCESS);
                woken += 1;
            }
        }
        for (int i = 0; i < suspended; ++i) {
#pragma omp task depend(inout : x) shared(x)
            {
                x += 1;
                while (!sleeper[i]) {
#pragma omp taskyield
                }
                CHECK_EQ(DOOR(sennit_task_resume)(sleeper[i]), SENNIT_SUCCESS);
            }
        }
    }
    CHECK_EQ(woken, suspended);
    CHECK_EQ(x, suspended);
    return 0;
}
