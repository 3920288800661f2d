/* SPDX-License-Identifier: Apache-2.0
 * test: threads=2 KMP_ENABLE_TASK_THROTTLING=0 # libgomp throttles
 *
 * KMP_ENABLE_TASK_THROTTLING=0: a thread that creates tasks runs none of them before it waits,
 * however many there are. */
#include "check.h"

#define TASKS 5000

static int created, early;

int main(void) {
#pragma omp parallel num_threads(1)
    {
        for (int i = 0; i < TASKS; ++i) {
            ++created;
#pragma omp task
            early += created < TASKS;
        }
    }
    CHECK_EQ(created, TASKS);
    CHECK_EQ(early, 0);
    return 0;
}
