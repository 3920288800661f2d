/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang # gcc 12 lacks omp_all_memory
 * test:
 * OpenMP 5.2, 15.9.5: a dependence on omp_all_memory orders the task after every earlier sibling
 * with a dependence, and before every later one.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 20; ++round) {
        int cell[30], done = 0;
#pragma omp parallel
#pragma omp single
        for (int wave = 0; wave < 5; ++wave) {
            for (int i = 0; i < 30; ++i) {
#pragma omp task depend(out : cell[i]) shared(done)
                {
                    int before;
#pragma omp atomic capture
                    before = done++;
                    CHECK(before >= 31 * wave);
                }
            }
            if (wave % 2) {
#pragma omp task depend(out : omp_all_memory) shared(done)
                CHECK_EQ(done++, 31 * wave + 30);
            } else {
#pragma omp task depend(inout : omp_all_memory) depend(in : cell[3]) shared(done)
                CHECK_EQ(done++, 31 * wave + 30);
            }
        }
        CHECK_EQ(done, 155);
    }
    return 0;
}
