/* SPDX-License-Identifier: Apache-2.0
 * build: -- -rdynamic
 * test: threads=2
 * Tasks that yield lose few time slices to other programs, also where threads outnumber processors.
 * Here a yield to the system takes as long as beside a program that computes.
 */
#include "check.h"

#include <unistd.h>

enum { CALLS = 4096, SLICE_US = 2000 };

static _Thread_local volatile int in_task, lost; /* to GCC taskyield calls nothing of ours */

int sched_yield(void);
int sched_yield(void) { /* the runtime calls this one */
    lost += in_task;
    usleep(SLICE_US);
    return 0;
}

int main(void) {
#pragma omp parallel num_threads(2 * omp_get_num_procs())
#pragma omp single
    {
        in_task = 1;
        for (int i = 0; i < CALLS; ++i) {
#pragma omp taskyield
        }
        in_task = 0;
        printf("%d slices lost in %d calls\n", lost, CALLS);
        CHECK(lost > 0);
        CHECK(lost < CALLS / 8);
    }
    return 0;
}
