/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernel threads run a region in a task of a region? What the tests share of inner regions
 * that are cut.
 */
#ifndef INNER_THREADS_H
#define INNER_THREADS_H

#include "check.h"

#include <sys/syscall.h>

enum { kOuter = 2, kInner = 4, kTries = 500 };

/* How many threads of an inner region have a kernel thread of their own. `ask` asks for
 * kInner threads, in the task that encounters it. */
static inline int count_own(void (*ask)(void)) {
    long outer[kOuter], inner[kInner] = {0};
    int own = 0;
#pragma omp parallel num_threads(kOuter) shared(outer, inner)
    {
        outer[omp_get_thread_num()] = syscall(SYS_gettid);
#pragma omp barrier
#pragma omp single
#pragma omp task shared(inner)
        {
            ask();
#pragma omp parallel shared(inner)
            inner[omp_get_thread_num()] = syscall(SYS_gettid);
        }
    }
    for (int i = 0; i < kInner; ++i)
        own += inner[i] != 0 && inner[i] != outer[0] && inner[i] != outer[1];
    return own;
}

static inline void ask_plainly(void) {
    omp_set_num_threads(kInner);
}

/* They are cut: no thread has one. (A region that stands still for long gets some.) */
static inline void check_cut(void (*ask)(void)) {
    int tries = 0;
    while (count_own(ask) != 0)
        CHECK(++tries < kTries);
}

/* They have what they had without splitting: all but the first have one. */
static inline void check_own(void (*ask)(void)) {
    CHECK_EQ(count_own(ask), kInner - 1);
}

#endif
