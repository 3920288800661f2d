/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 3.2.6 (iterators) and 15.9.5: one depend clause names a computed set of locations,
 * also of two dimensions, with a step, and empty.
 */
#include "check.h"

int main(void) {
    enum { n = 24 };
    int cell[n][n] = {{0}}, total = 0;
    for (int round = 1; round <= 5; ++round) {
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
#pragma omp task depend(out : cell[i][j]) shared(cell)
                    cell[i][j] = round;
                }
            for (int i = 0; i < n; ++i) {
#pragma omp task depend(iterator(int j = 0 : n), in : cell[i][j]) depend(inout : total)            \
    shared(cell, total)
                for (int j = 0; j < n; ++j)
                    total += cell[i][j];
            }
#pragma omp task depend(iterator(i = 0 : n : 2, j = n - 1 : -1 : -3), inout : cell[i][j])          \
    shared(cell)
            for (int i = 0; i < n; i += 2)
                for (int j = n - 1; j >= 0; j -= 3)
                    CHECK_EQ(cell[i][j], round);
#pragma omp task depend(iterator(i = 0 : 0), inout : cell[i][0]) shared(cell)
            CHECK(cell[0][0] <= round);
#pragma omp taskwait
            CHECK_EQ(total, n * n * round * (round + 1) / 2);
        }
    }
    return 0;
}
