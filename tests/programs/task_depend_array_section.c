/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.9.5: list items are matched by their storage's start: a blocked vector with array
 * sections as the dependences of each block.
 */
#include "check.h"

int main(void) {
    enum { blocks = 16, block = 32, sweeps = 20 };
    static double v[(blocks + 2) * block];
#pragma omp parallel
#pragma omp single
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (int b = 1; b <= blocks; ++b) {
            double *mine = v + b * block, *left = mine - block;
#pragma omp task depend(in : left[0 : block]) depend(inout : mine[0 : block])
            for (int i = 0; i < block; ++i)
                mine[i] += left[i] + 1;
        }
    }
    static double serial[(blocks + 2) * block];
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (int i = block; i < (blocks + 1) * block; ++i)
            serial[i] += serial[i - block] + 1;
    for (int i = 0; i < (blocks + 2) * block; ++i)
        CHECK(v[i] == serial[i]);
    return 0;
}
