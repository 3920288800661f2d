/* SPDX-License-Identifier: Apache-2.0
 *
 * dependences.c - rows about tasks with dependences, one producer. The tasks compute with plain
 * loads and stores what only the right order can give.
 */
#include "harness.h"
#include "omp-micro.h"

enum { MAX_CHAINS = 64, MAX_SIDE = 256, MAX_CELLS = 256 };

long bench_chains(long tasks, long chains) {
    static long value[MAX_CHAINS];
    for (long c = 0; c < chains; ++c)
        value[c] = 0;
    const long length = tasks / chains;
#pragma omp parallel
#pragma omp single
    for (long i = 0; i < length; ++i) {
        for (long c = 0; c < chains; ++c) {
#pragma omp task depend(inout : value[c]) firstprivate(i, c)
            if (value[c] == i)
                value[c] = i + 1;
        }
    }
    for (long c = 0; c < chains; ++c)
        bench_check(value[c] == length, "order within a dependence chain");
    return length * chains;
}

long bench_wavefront(long side, long unused) {
    (void)unused;
    static int grid[MAX_SIDE + 1][MAX_SIDE + 1]; /* row 0 and column 0 stay 0 */
    bench_check(side <= MAX_SIDE, "a wavefront of at most 256 x 256");
    for (long i = 1; i <= side; ++i)
        for (long j = 1; j <= side; ++j)
            grid[i][j] = 0;
#pragma omp parallel
#pragma omp single
    for (long i = 1; i <= side; ++i) {
        for (long j = 1; j <= side; ++j) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j])              \
    firstprivate(i, j)
            {
                const int up = grid[i - 1][j], left = grid[i][j - 1];
                grid[i][j] = (up < left ? up : left) + 1;
            }
        }
    }
    for (long i = 1; i <= side; ++i)
        for (long j = 1; j <= side; ++j)
            bench_check(grid[i][j] == (i < j ? i : j), "order within the wavefront");
    return side * side;
}

long bench_stencil(long steps, long cells) {
    static long buffer[2][MAX_CELLS + 2]; /* the two ends count steps, too: see below */
    bench_check(cells <= MAX_CELLS, "a stencil of at most 256 cells");
    for (long i = 0; i < cells + 2; ++i)
        buffer[0][i] = buffer[1][i] = 0;
#pragma omp parallel
#pragma omp single
    for (long step = 0; step < steps; ++step) {
        long *old = buffer[step % 2], *new = buffer[(step + 1) % 2];
        for (long i = 1; i <= cells; ++i) {
#pragma omp task depend(in : old[i - 1], old[i], old[i + 1]) depend(out : new[i])                  \
    firstprivate(old, new, i, step, cells)
            {
                /* Every neighbour must have done exactly `step` steps. */
                const long left = i > 1 ? old[i - 1] : step;
                const long right = i < cells ? old[i + 1] : step;
                new[i] = left == step &&old[i] == step &&right == step ? step + 1 : -1;
            }
        }
    }
    for (long i = 1; i <= cells; ++i)
        bench_check(buffer[steps % 2][i] == steps, "order within the stencil");
    return steps * cells;
}

long bench_sweeps(long sweeps, long side) {
    static long grid[MAX_SIDE + 2][MAX_SIDE + 2]; /* a frame around it stays 0 */
    bench_check(side <= MAX_SIDE, "sweeps over at most 256 x 256");
    for (long i = 1; i <= side; ++i)
        for (long j = 1; j <= side; ++j)
            grid[i][j] = 0;
#pragma omp parallel
#pragma omp single
    for (long sweep = 0; sweep < sweeps; ++sweep) {
        for (long i = 1; i <= side; ++i) {
            for (long j = 1; j <= side; ++j) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1], grid[i + 1][j], grid[i][j + 1])       \
    depend(inout : grid[i][j]) firstprivate(i, j, sweep, side)
                {
                    /* Those before it have done this sweep, those behind it have not. */
                    const int above = i == 1 || grid[i - 1][j] == sweep + 1;
                    const int left = j == 1 || grid[i][j - 1] == sweep + 1;
                    const int below = i == side || grid[i + 1][j] == sweep;
                    const int right = j == side || grid[i][j + 1] == sweep;
                    grid[i][j] = above && left && below && right ? grid[i][j] + 1 : -1;
                }
            }
        }
    }
    for (long i = 1; i <= side; ++i)
        for (long j = 1; j <= side; ++j)
            bench_check(grid[i][j] == sweeps, "order within the sweeps");
    return sweeps * side * side;
}
