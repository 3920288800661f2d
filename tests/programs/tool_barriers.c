/* SPDX-License-Identifier: Apache-2.0
 * build: if=clang
 * tool: threads=2 compiler=gcc
 *     TOOL_CHECKER_COUNTS=teams_barrier=3,implementation_barrier=0,reduction_begin=0
 * tool: threads=2 compiler=clang
 *     TOOL_CHECKER_COUNTS=teams_barrier=3,implementation_barrier=2,reduction_begin=2
 * OpenMP 5.2, 19.4.4.14: what a tool is told that barriers are for: at the end of each team of a
 * league, and, where the compiler's code has one there, between a reduction and the construct's
 * own.
 */
#include "check.h"

int main(void) {
    int sum = 0, teams = 0;
#pragma omp teams num_teams(3) thread_limit(1)
#pragma omp parallel
#pragma omp atomic
    ++teams;
    CHECK_EQ(teams, 3);
#pragma omp parallel num_threads(2)
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 10; ++i)
        sum += i;
    CHECK_EQ(sum, 45);
    return 0;
}
