/* SPDX-License-Identifier: Apache-2.0
 * test:
 * sennit.h: while tasks wait for time, their thread runs the others: on one thread, a task that
 * waits sees everything that its later siblings did meanwhile.
 */
#include "sennit_door.h"

static volatile int done;

int main(void) {
#pragma omp parallel num_threads(1)
    {
        for (int i = 0; i < 20; ++i) {
#pragma omp task
            {
                uint64_t passed;
                CHECK_EQ(DOOR(sennit_task_wait_ns)(1000000, &passed), SENNIT_SUCCESS);
                CHECK(passed >= 1000000);
                while (done < 100)
                    DOOR(sennit_task_wait_ns)(100000, NULL);
            }
        }
        for (int i = 0; i < 100; ++i) {
#pragma omp task
            done += 1;
        }
    }
    CHECK_EQ(done, 100);
    CHECK_EQ(DOOR(sennit_task_wait_ns)(0, NULL), SENNIT_SUCCESS);
    return 0;
}
