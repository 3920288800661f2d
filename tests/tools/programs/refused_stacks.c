/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc
 * Tasks that let others run in their middle, each on a stack of its own, in a process that has room
 * for few stacks (OMP_STACKSIZE=8M). Both threads have work all the time. */
#define _GNU_SOURCE
#include "../../programs/limited_memory.h"

#include <sys/syscall.h>
#include <time.h>

enum { TASKS = 64 };

/* Not by libc's function, which would suspend the task. */
static void hold(void) {
    const struct timespec moment = {0, 1000000};
    syscall(SYS_nanosleep, &moment, NULL);
}

int main(void) {
    int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        limit_addresses(60 << 20);
        for (int i = 0; i < TASKS; ++i) {
#pragma omp task shared(done)
            {
                hold();
#pragma omp taskyield
                hold();
#pragma omp atomic
                ++done;
            }
        }
    }
    CHECK_EQ(done, TASKS);
    return 0;
}
