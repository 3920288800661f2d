// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 4.4: collapsed nests whose inner bounds depend on an outer variable, growing,
// shrinking and empty for some outer values.
#include "check.h"

enum { n = 30, places = 4 * n * n };

static int seen[places];

static void expect(int begin, int end, int from, int slope, const char *what) {
    for (int i = 0; i < n; ++i)
        for (int j = -n; j < 3 * n; ++j) {
            const int inside = i >= begin && i < end && j >= from && j < slope * i + 2;
            const int at = i * 4 * n + j + n;
            if (seen[at] != inside)
                fprintf(stderr, "%s: i %d, j %d\n", what, i, j);
            CHECK_EQ(seen[at], inside);
            seen[at] = 0;
        }
}

static void see(int i, int j) {
#pragma omp atomic
    ++seen[i * 4 * n + j + n];
}

int main(void) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i + 2; ++j)
            see(i, j);
    expect(0, n, 0, 1, "growing");
#pragma omp parallel for collapse(2)
    for (int i = 3; i < n; ++i)
        for (int j = 1; j < 2 * i + 2; ++j)
            see(i, j);
    expect(3, n, 1, 2, "by two");
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; ++i)
        for (int j = -20; j < -1 * i + 2; ++j)
            see(i, j);
    expect(0, n, -20, -1, "shrinking to nothing");
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop collapse(2) reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i + 2; ++j)
            sum += 1;
    CHECK_EQ(sum, n * (n - 1) / 2 + 2 * n);
    return 0;
}
