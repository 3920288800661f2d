/* SPDX-License-Identifier: Apache-2.0
 * OpenMP 5.2, 15.10.2 (ordered): the structured blocks of an ordered region run in the order of the
 * iterations; doacross (ordered(n) with sink and source) obeys the cross-iteration dependences.
 */
#include "check.h"

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define IN_ORDER(...)                                                                              \
    do {                                                                                           \
        int next = 0;                                                                              \
        PRAGMA(omp parallel for ordered __VA_ARGS__)                                               \
        for (int i = 0; i < 100; ++i) {                                                            \
            PRAGMA(omp ordered)                                                                    \
            CHECK_EQ(next++, i);                                                                   \
        }                                                                                          \
        CHECK_EQ(next, 100);                                                                       \
    } while (0)

int main(void) {
    IN_ORDER(schedule(static));
    IN_ORDER(schedule(static, 3));
    IN_ORDER(schedule(dynamic));
    IN_ORDER(schedule(dynamic, 4));
    IN_ORDER(schedule(guided));
    IN_ORDER(schedule(runtime));
    static int grid[31][31];
#pragma omp parallel for ordered(2)
    for (int i = 1; i <= 30; ++i)
        for (int j = 1; j <= 30; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            const int above = grid[i - 1][j], left = grid[i][j - 1];
            grid[i][j] = (above > left ? above : left) + 1;
#pragma omp ordered depend(source)
        }
    CHECK_EQ(grid[30][30], 59);
    return 0;
}
