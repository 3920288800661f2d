/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc
 * A chain of tasks whose maker is ahead of all others: on the other thread a task waits until all
 * are made. So one of the two threads has no work. */
#define _GNU_SOURCE
#include <omp.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 320 };

static volatile int all_made;

/* Not by libc's function, which would suspend the task. */
static void hold(void) {
    const struct timespec moment = {0, 50000};
    syscall(SYS_nanosleep, &moment, NULL);
}

static void link_of_chain(int maker, int *done) {
    while (!all_made && omp_get_thread_num() != maker)
        hold();
    hold();
    ++*done;
}

int main(void) {
    int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        const int maker = omp_get_thread_num();
        for (int i = 0; i < TASKS; ++i) {
#pragma omp task shared(done) depend(inout : done)
            link_of_chain(maker, &done);
        }
        all_made = 1;
    }
    return done != TASKS;
}
