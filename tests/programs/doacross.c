// SPDX-License-Identifier: Apache-2.0
// test, split, tool:
// OpenMP 5.2, 15.9.6: ordered(n) with source and sink, in one and two dimensions, with every
// schedule, steps other than one, sinks outside of the space, and loops that follow each other.
#include "check.h"

enum { n = 60, m = 17 };

static int grid[n][m];

static void clear(void) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
            grid[i][j] = -1;
}

// Each cell is the number of lattice paths to it, modulo 10007: any wrong order shows.
static int from(int i, int j) {
    const int up = i > 0 ? grid[i - 1][j] : j == 0;
    const int left = j > 0 ? grid[i][j - 1] : 0;
    return (up + left) % 10007;
}

static int expected[n][m];

static void expect_paths(void) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
            CHECK_EQ(grid[i][j], expected[i][j]);
}

#define WAVEFRONT(schedule_clause)                                                                 \
    clear();                                                                                       \
    _Pragma("omp parallel") {                                                                      \
        DO_PRAGMA(omp for ordered(2) schedule_clause)                                              \
        for (int i = 0; i < n; ++i)                                                                \
            for (int j = 0; j < m; ++j) {                                                          \
                _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)")             \
                    grid[i][j] = from(i, j);                                                       \
                _Pragma("omp ordered depend(source)")                                              \
            }                                                                                      \
    }                                                                                              \
    expect_paths();
#define DO_PRAGMA(text) DO_PRAGMA_(#text)
#define DO_PRAGMA_(text) _Pragma(text)

int main(void) {
    clear();
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
            expected[i][j] = grid[i][j] = from(i, j);

    WAVEFRONT()
    WAVEFRONT(schedule(static, 1))
    WAVEFRONT(schedule(static, 3))
    WAVEFRONT(schedule(dynamic))
    WAVEFRONT(schedule(dynamic, 2))
    WAVEFRONT(schedule(guided))
    WAVEFRONT(schedule(runtime))

    // One dimension, downwards by three, several nowait loops in a row.
    static long chain[6][400];
#pragma omp parallel
    for (int round = 0; round < 6; ++round) {
#pragma omp for ordered(1) schedule(dynamic, 1) nowait
        for (long i = 399; i >= 0; i -= 3) {
#pragma omp ordered depend(sink : i + 3)
            chain[round][i] = i + 3 < 400 ? chain[round][i + 3] + i : i;
#pragma omp ordered depend(source)
        }
    }
    for (int round = 0; round < 6; ++round) {
        long sum = 0;
        for (long i = 399; i >= 0; i -= 3) {
            sum += i;
            CHECK_EQ(chain[round][i], sum);
        }
    }

    // Unsigned, beyond what a signed variable holds.
    static unsigned long long high[100];
    const unsigned long long base = 0xFFFFFFFFFFFFFF00ull;
#pragma omp parallel for ordered(1) schedule(static, 2)
    for (unsigned long long i = base; i < base + 100; ++i) {
#pragma omp ordered depend(sink : i - 1)
        high[i - base] = i > base ? high[i - base - 1] + 1 : 1;
#pragma omp ordered depend(source)
    }
    for (int i = 0; i < 100; ++i)
        CHECK_EQ(high[i], (unsigned long long)i + 1);
    return 0;
}
