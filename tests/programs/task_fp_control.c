/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lm
 * test: # stock libomp starts other tasks on top of one that yields, in its mode
 * The floating-point environment (C11, 7.6) is of a thread: a task that changes the rounding mode
 * and then waits finds it again, and tasks that start meanwhile do not start in it. They start in
 * what the implicit task of their thread has.
 */
#include "check.h"
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { tasks = 1000 }; /* more than are queued */

static void flush_to_zero(int on) {
#if defined(__x86_64__)
    _MM_SET_FLUSH_ZERO_MODE(on ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
#else
    (void)on;
#endif
}

static void expect(int rounding, int flushes) {
    CHECK_EQ(fegetround(), rounding);
#if defined(__x86_64__)
    CHECK_EQ(_MM_GET_FLUSH_ZERO_MODE() != 0, flushes);
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    CHECK_EQ(x87 & 0xc00, rounding);
#else
    (void)flushes;
#endif
}

static void rest(int rounding, int start) {
    expect(start, 0);
    fesetround(rounding);
    flush_to_zero(1);
#pragma omp taskyield
    expect(rounding, 1);
    flush_to_zero(0);
    fesetround(start);
}

/* Every task rests, in one of three modes; all start in that of the implicit tasks. */
static void tasks_start_alike(int start) {
#pragma omp parallel
    {
        fesetround(start);
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(i)
            {
                rest(i % 2 ? FE_UPWARD : FE_TOWARDZERO, start);
#pragma omp task
                rest(FE_DOWNWARD, start);
#pragma omp taskwait
                expect(start, 0);
            }
        }
        expect(start, 0);
        fesetround(FE_TONEAREST);
    }
}

/* A region in a task that has changed the mode: its tasks have its mode on this thread. */
static void nested_regions(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task
        {
            expect(FE_TONEAREST, 0);
            fesetround(FE_UPWARD);
#pragma omp parallel num_threads(1)
            for (int k = 0; k < 5; ++k) {
#pragma omp task
                rest(FE_DOWNWARD, FE_UPWARD);
            }
#pragma omp taskyield
            expect(FE_UPWARD, 0);
            fesetround(FE_TONEAREST);
        }
#pragma omp task
        rest(FE_TOWARDZERO, FE_TONEAREST);
    }
}

int main(void) {
    tasks_start_alike(FE_TONEAREST);
    tasks_start_alike(FE_DOWNWARD);
    nested_regions();
    expect(FE_TONEAREST, 0);
    return 0;
}
