// SPDX-License-Identifier: Apache-2.0
// test, split, tool: OMP_CANCELLATION=true
// valgrind:
// OpenMP 5.2, 11.5, 11.6: cancel and cancellation point for parallel, for, sections and taskgroup,
// with OMP_CANCELLATION=true. What has to hold whatever the timing is checked.
#include "check.h"
#include <stdlib.h>

enum { iterations = 100000 };

// A region that is left from a loop, from before a barrier, and from its end; then one after it.
static void cancel_parallel(void) {
    for (int round = 0; round < 200; ++round) {
        int after = 0;
        int cancelled = 0;
#pragma omp parallel shared(after, cancelled)
        {
            if (omp_get_thread_num() == round % omp_get_num_threads()) {
#pragma omp atomic write
                cancelled = 1;
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp atomic
            ++after; // nobody passes the barrier of a cancelled region
        }
        CHECK_EQ(cancelled, 1);
        CHECK_EQ(after, 0);

        int threads = 0;
#pragma omp parallel reduction(+ : threads)
        {
            ++threads;
#pragma omp barrier
        }
        CHECK(threads >= 1);
    }
}

static void cancel_at_points(void) {
    for (int round = 0; round < 100; ++round) {
        int left = 0;
#pragma omp parallel shared(left)
        {
            if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
            }
            for (;;) { // ends by cancellation alone
#pragma omp cancellation point parallel
            }
#pragma omp atomic
            ++left;
        }
        CHECK_EQ(left, 0);
    }
}

#define CANCEL_LOOP(schedule_clause)                                                               \
    for (int round = 0; round < 20; ++round) {                                                     \
        long done = 0;                                                                             \
        long again = 0;                                                                            \
        _Pragma("omp parallel shared(done, again)") {                                              \
            DO_PRAGMA(omp for schedule_clause)                                                     \
            for (long i = 0; i < iterations; ++i) {                                                \
                _Pragma("omp atomic")++ done;                                                      \
                if (i % 7 == 3) {                                                                  \
                    _Pragma("omp cancel for")                                                      \
                }                                                                                  \
                _Pragma("omp cancellation point for")                                              \
            }                                                                                      \
            DO_PRAGMA(omp for schedule_clause)                                                     \
            for (long i = 0; i < 1000; ++i) {                                                      \
                _Pragma("omp cancellation point for") _Pragma("omp atomic")++ again;               \
            }                                                                                      \
        }                                                                                          \
        CHECK(done > 0 && done < iterations);                                                      \
        CHECK_EQ(again, 1000); /* the next loop is not cancelled */                                \
    }
#define DO_PRAGMA(text) DO_PRAGMA_(#text)
#define DO_PRAGMA_(text) _Pragma(text)

static void cancel_sections(void) {
    for (int round = 0; round < 100; ++round) {
        int run = 0;
#pragma omp parallel num_threads(1)
#pragma omp sections
        {
#pragma omp section
            {
                ++run;
#pragma omp cancel sections
                run += 100; // not reached
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                run += 1000; // not reached
            }
        }
        CHECK_EQ(run, 1);
    }
}

static void cancel_taskgroup(void) {
    for (int round = 0; round < 50; ++round) {
        int begun = 0;
        int inner = 0;
        int outside = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task shared(outside)
#pragma omp atomic
            ++outside;
#pragma omp taskgroup
            {
                for (int i = 0; i < 2000; ++i) {
#pragma omp task shared(begun, inner) firstprivate(i)
                    {
#pragma omp atomic
                        ++begun;
                        if (i == 20) {
#pragma omp cancel taskgroup
                        }
#pragma omp cancellation point taskgroup
#pragma omp atomic
                        ++inner;
                    }
                }
            }
#pragma omp task shared(outside)
#pragma omp atomic
            ++outside;
        }
        CHECK(begun >= 1 && begun <= 2000);
        CHECK(inner < begun); // task 20 at least did not come that far
        CHECK_EQ(outside, 2);
    }
    // Discarded tasks release their dependences, and the group ends.
    static int x; // the address counts
    (void)x;
    int run = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : x) shared(run)
        {
            ++run;
#pragma omp cancel taskgroup
        }
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : x) shared(run)
            ++run;
        }
    }
    CHECK_EQ(run, 1);
}

int main(void) {
    CHECK_EQ(omp_get_cancellation(), 1);
    cancel_parallel();
    cancel_at_points();
    CANCEL_LOOP()
    CANCEL_LOOP(schedule(static, 5))
    CANCEL_LOOP(schedule(dynamic))
    CANCEL_LOOP(schedule(dynamic, 3))
    CANCEL_LOOP(schedule(guided))
    cancel_sections();
    cancel_taskgroup();
    return 0;
}
