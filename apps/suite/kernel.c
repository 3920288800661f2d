/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"
#include "suite.h"

static double g_rate[kernels]; /* flops per nanosecond */
static bool g_emulated;

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
    hold_since(hold_begin(), kernel_seconds(kernel, m, n, k));
}
