/* SPDX-License-Identifier: Apache-2.0
 *
 * held-tasks.c - tasks with dependences that are all created before one of them runs, so that the
 * creation of one can be measured alone (instructions.py). A program of its own: one that fulfils
 * events runs no task where it is made.
 */
#include "harness.h"

#include <omp.h>

enum { SIDE = 4 };

/* Sweeps over 4 x 4 blocks, as dep-sweeps of dependences.c. */
static long create(long sweeps, long unused) {
    (void)unused;
    static long grid[SIDE + 2][SIDE + 2]; /* a frame around it stays 0 */
    for (long i = 1; i <= SIDE; ++i)
        for (long j = 1; j <= SIDE; ++j)
            grid[i][j] = 0;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t gate;
#pragma omp task depend(out : grid[1][1]) detach(gate)
        {
        }
        for (long sweep = 0; sweep < sweeps; ++sweep) {
            for (long i = 1; i <= SIDE; ++i) {
                for (long j = 1; j <= SIDE; ++j) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1], grid[i + 1][j], grid[i][j + 1])       \
    depend(inout : grid[i][j]) firstprivate(i, j, sweep)
                    if (grid[i][j] == sweep)
                        grid[i][j] = sweep + 1;
                }
            }
        }
        bench_check(grid[1][1] == 0, "nothing runs before all are created");
        omp_fulfill_event(gate);
    }
    for (long i = 1; i <= SIDE; ++i)
        for (long j = 1; j <= SIDE; ++j)
            bench_check(grid[i][j] == sweeps, "order within the sweeps");
    return sweeps * SIDE * SIDE;
}

static const struct bench_row rows[] = {
    {"dep-creation", "task", "sweeps over 4 x 4 blocks, all created before one runs", 100, 0,
     create},
    {"dep-creation-looked-up", "task", "the same with SENNIT_REPLAY=off", 100, 0, create},
};

int main(int argc, char **argv) {
    const struct bench_program program = {
        .rows = rows, .row_count = BENCH_COUNT(rows), .reporter = true};
    return bench_main(argc, argv, &program);
}
