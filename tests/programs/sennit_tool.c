/* SPDX-License-Identifier: Apache-2.0
 * build: if=clang
 * tool:
 * A suspended task as a tool sees it: it leaves and comes back by task_schedule events, and its
 * frames are its own wherever it waited. Suspensions nest in no order.
 */
#include "sennit_door.h"
#include "tool_look.h"

enum { kTasks = 20 };

int main(void) {
    sennit_task *sleeper[kTasks];
    int asleep = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < kTasks; ++i) {
#pragma omp task shared(asleep, sleeper)
            {
                const int levels = look();
                CHECK(levels >= 3);
                sleeper[i] = door_self();
#pragma omp atomic
                asleep += 1;
                CHECK_EQ(DOOR(sennit_task_suspend)(sleeper[i]), SENNIT_SUCCESS);
                CHECK(look() >= 3);
            }
        }
#pragma omp task shared(asleep, sleeper)
        {
            int seen = 0;
            while (seen < kTasks) {
#pragma omp taskyield
#pragma omp atomic read
                seen = asleep;
            }
            for (int i = 0; i < kTasks; ++i)
                CHECK_EQ(DOOR(sennit_task_resume)(sleeper[(i * 7 + 3) % kTasks]), SENNIT_SUCCESS);
        }
    }
    return 0;
}
