/* SPDX-License-Identifier: Apache-2.0
 * test:
 * sennit.h: a task's processor time is its own, though its thread runs others while it is
 * suspended.
 */
#define _GNU_SOURCE
#include "processor_time.h"
#include "sennit_door.h"

static uint64_t work_time(void) {
    uint64_t ns = 0;
    CHECK_EQ(DOOR(sennit_work_time)(&ns), SENNIT_SUCCESS);
    return ns;
}

enum { ms = 1000000 * more_work, tasks = 5 };
static uint64_t worked[tasks];

int main(void) {
    CHECK_EQ(DOOR(sennit_work_time)(NULL), SENNIT_ERR_PARAMETER);
#pragma omp parallel num_threads(1)
    for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
        {
            const uint64_t start = work_time();
            work_for(5 * ms);
            DOOR(sennit_task_wait_ns)(ms, NULL); /* the others begin */
            work_for(5 * ms);
            DOOR(sennit_task_wait_ns)(ms, NULL); /* and go on */
            worked[i] = work_time() - start;
        }
    }
    /* With the others' it would be 30 and more. The runtime's own time is a task's, too. */
    for (int i = 0; i < tasks; ++i)
        CHECK(worked[i] >= 10 * ms && worked[i] < 25 * ms);
    return 0;
}
