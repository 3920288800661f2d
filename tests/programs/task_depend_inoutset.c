/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang # gcc 12 lacks inoutset
 * test:
 * OpenMP 5.2, 15.9.5: inoutset tasks do not order each other; they come after earlier and before
 * later in, out and inout tasks, and an in after inoutset waits for the whole set.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 20; ++round) {
        int x = 0, before = 0, set = 0, after = 0;
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < 10; ++i) {
#pragma omp task depend(in : x) shared(before)
                {
#pragma omp atomic
                    before += 1;
                }
            }
            for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inoutset : x) shared(before, set)
                {
                    CHECK_EQ(before, 10);
#pragma omp atomic
                    set += 1;
                }
            }
            for (int i = 0; i < 10; ++i) {
#pragma omp task depend(in : x) shared(set, after)
                {
                    CHECK_EQ(set, 20);
#pragma omp atomic
                    after += 1;
                }
            }
#pragma omp task depend(inoutset : x) shared(after, set)
            {
                CHECK_EQ(after, 10);
                set = 0;
            }
#pragma omp task depend(inout : x) shared(set)
            CHECK_EQ(set, 0);
        }
    }
    return 0;
}
