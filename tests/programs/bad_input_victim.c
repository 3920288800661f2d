/* SPDX-License-Identifier: Apache-2.0
 * build:
 * The program that bad_input.py runs under senseless settings: prints the team's size and whether
 * teams, tasks, dependences and locks still work, also with deep stacks and suspended tasks.
 */
#include "check.h"

/* Uses about 13 KiB of stack: more than a stack of "1k" that was taken literally. */
static int deep(int depth) {
    volatile char frame[1000];
    frame[depth] = (char)depth;
    return depth == 0 ? 0 : deep(depth - 1) + (frame[depth] == (char)depth);
}

int main(void) {
    int size = 0, sum = 0, chain = 0, depths = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp masked
        size = omp_get_num_threads();
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(depths)
            {
                int child = 0;
#pragma omp task shared(child)
                child = deep(12);
#pragma omp taskwait
#pragma omp atomic
                depths += child;
            }
        }
#pragma omp single
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            {
#pragma omp taskyield
                chain += 1;
            }
        }
        sum += 1;
    }
    CHECK_EQ(sum, size);
    CHECK_EQ(chain, 100);
    CHECK_EQ(depths, 1200 * size);
    printf("threads=%d procs=%d\n", size, omp_get_num_procs());
    return 0;
}
