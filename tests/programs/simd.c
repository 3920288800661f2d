// SPDX-License-Identifier: Apache-2.0
// test: # stock libomp miscounts schedule(simd : static, 8)
// OpenMP 5.2, 10.4, 7.7: simd with its clauses, for simd with linear and lastprivate, declare simd.
#include "check.h"

enum { n = 1000 };

#pragma omp declare simd uniform(step) linear(i : 1) notinbranch
static int scaled(int i, int step) {
    return i * step;
}

int main(void) {
    static int a[n] __attribute__((aligned(64)));
    int sum = 0, last = -1, at = 5;
#pragma omp simd reduction(+ : sum) aligned(a : 64) safelen(16) simdlen(4)
    for (int i = 0; i < n; ++i) {
        a[i] = scaled(i, 3);
        sum += a[i];
    }
    CHECK_EQ(sum, 3 * n * (n - 1) / 2);
    sum = 0;
#pragma omp parallel for simd linear(at : 2) lastprivate(last) reduction(+ : sum)                  \
    schedule(simd : static, 8) if (parallel : n > 10)
    for (int i = 0; i < n; ++i) {
        sum += at == 5 + 2 * i;
        at += 2;
        last = a[i];
    }
    CHECK_EQ(sum, n);
    CHECK_EQ(at, 5 + 2 * n);
    CHECK_EQ(last, 3 * (n - 1));
#pragma omp parallel
    {
#pragma omp for linear(at : 1) schedule(dynamic, 7)
        for (int i = 0; i < n; ++i) {
            a[i] = at;
            ++at;
        }
    }
    for (int i = 0; i < n; ++i)
        CHECK_EQ(a[i], 5 + 2 * n + i);
    CHECK_EQ(at, 5 + 3 * n);
    return 0;
}
