/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

static double g_rate[kernels]; /* flops per nanosecond */
static bool g_emulated;
static atomic_long g_late; /* ns, by which kernels ended too late */

void set_rates(const struct options *options) {
    for (int kernel = 0; kernel < kernels; ++kernel)
        g_rate[kernel] = options->rate[kernel];
    g_emulated = options->emulate;
}

bool emulated(void) {
    return g_emulated;
}

static double flops(enum kernel kernel, double m, double n, double k) {
    switch (kernel) {
    case potrf:
        return m * m * m / 3.0;
    case trsm:
        return m * n * n;
    case syrk:
        return m * m * k;
    case gemm:
        return 2.0 * m * n * k;
    default: /* sweep: of five points */
        return 6.0 * m * n;
    }
}

double kernel_seconds(enum kernel kernel, int m, int n, int k) {
    return flops(kernel, m, n, k) / g_rate[kernel] * 1e-9;
}

void hold(enum kernel kernel, int m, int n, int k) {
    static _Thread_local bool exact;
    if (!exact) { /* the kernel otherwise rounds sleeps up by 50 us */
        prctl(PR_SET_TIMERSLACK, 1);
        exact = true;
    }
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long ns = end.tv_nsec + (long)(kernel_seconds(kernel, m, n, k) * 1e9);
    end.tv_sec += ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
        ;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_fetch_add_explicit(&g_late,
                              (now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec,
                              memory_order_relaxed);
}

double late_seconds(void) {
    return (double)atomic_load_explicit(&g_late, memory_order_relaxed) * 1e-9;
}
