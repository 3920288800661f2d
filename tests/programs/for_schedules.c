/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 11.5 (worksharing-loop): under every schedule kind and chunk size each iteration runs
 * exactly once; schedule(static, c) deals chunks round robin in thread order, and schedule(static)
 * gives every thread at most one contiguous chunk.
 */
#include "check.h"
#include <string.h>

enum { most = 1000 };
static int count[most], owner[most];

static void each_iteration_ran_once(int n, const char *what) {
    for (int i = 0; i < n; ++i)
        if (count[i] != 1)
            check_equal(what, n, "runs of an iteration", count[i], 1);
}

#define LOOP(n, ...)                                                                               \
    do {                                                                                           \
        memset(count, 0, sizeof count);                                                            \
        _Pragma("omp parallel") {                                                                  \
            PRAGMA(omp for __VA_ARGS__)                                                            \
            for (int i = 0; i < n; ++i) {                                                          \
                PRAGMA(omp atomic)                                                                 \
                count[i] += 1;                                                                     \
                owner[i] = omp_get_thread_num();                                                   \
            }                                                                                      \
            each_iteration_ran_once(n, #__VA_ARGS__);                                              \
        }                                                                                          \
    } while (0)
#define PRAGMA(...) _Pragma(#__VA_ARGS__)

static void chunks_are_dealt_round_robin(int n, int chunk) {
    for (int i = 0; i < n; ++i)
        CHECK_EQ(owner[i], i / chunk % check_threads());
}

static void blocks_are_contiguous_and_ordered(int n) {
    for (int i = 1; i < n; ++i)
        CHECK(owner[i - 1] <= owner[i]);
}

static void monotonic_chunks_grow(void) {
#pragma omp parallel
    {
        int last = -1;
#pragma omp for schedule(monotonic : dynamic, 3)
        for (int i = 0; i < most; ++i) {
            CHECK(i > last);
            last = i;
        }
    }
}

int main(void) {
    static const int sizes[] = {0, 1, 2, 7, 64, most};
    omp_set_dynamic(0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        const int n = sizes[s];
        LOOP(n, schedule(static));
        blocks_are_contiguous_and_ordered(n);
        LOOP(n, schedule(auto));
        LOOP(n, schedule(runtime));
        LOOP(n, schedule(nonmonotonic : dynamic));
        LOOP(n, schedule(guided));
        for (int chunk = 1; chunk <= 65; chunk *= 4) {
            LOOP(n, schedule(static, chunk));
            chunks_are_dealt_round_robin(n, chunk);
            LOOP(n, schedule(dynamic, chunk));
            LOOP(n, schedule(guided, chunk));
        }
        LOOP(n, schedule(dynamic, 2 * most));
    }
    monotonic_chunks_grow();
    return 0;
}
