/* SPDX-License-Identifier: Apache-2.0
 * test:
 * Tasks that want the same critical section. While its holder runs, a thread that waits begins few
 * other tasks: they would wait for it, too, and be bound to the thread.
 */
#include "check.h"

#include <time.h>

static void hold(long us) {
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000 + (now.tv_nsec - begun.tv_nsec) / 1000 < us);
}

int main(void) {
    enum { tasks = 600, hold_us = 100 };
    int inside = 0, count = 0, begun = 0, most = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(inside, count, begun, most)
        {
            const int now = __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
#pragma omp critical
            {
                CHECK_EQ(inside++, 0);
                most = now > most ? now : most;
                ++count;
                hold(hold_us);
                --inside;
            }
            __atomic_sub_fetch(&begun, 1, __ATOMIC_RELAXED);
        }
    }
    CHECK_EQ(count, tasks);
    CHECK(most < tasks / 2); /* with 8 threads mostly 50 to 100 */
    return 0;
}
