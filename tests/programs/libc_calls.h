/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that make blocking calls of libc's: what the tests of these share.
 */
#ifndef LIBC_CALLS_H
#define LIBC_CALLS_H

#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* `first` has begun, and perhaps waits, before `second` is made: two tasks, on any number of
 * threads. */
static inline void one_after_the_other(void (*first)(void), void (*second)(void)) {
    volatile int begun = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(begun)
        {
            begun = 1;
            first();
        }
        while (!begun) {
#pragma omp taskyield
        }
#pragma omp task
        second();
    }
}

/* Two tasks of one thread call `body`, while a signal comes every 20 ms. */
static inline void under_alarms(void (*handler)(int), void (*body)(void)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < 2; ++i) {
#pragma omp task
        body();
    }
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
}

#endif
