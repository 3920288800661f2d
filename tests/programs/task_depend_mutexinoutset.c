/* SPDX-License-Identifier: Apache-2.0
 * test, policies:
 * OpenMP 5.2, 15.9.5: mutexinoutset tasks run in any order, one at a time; they come after earlier
 * and before later in, out and inout tasks of the same location.
 */
#include "check.h"

int main(void) {
    for (int round = 0; round < 10; ++round) {
        int x = 0, y = 0, busy_x = 0, busy_y = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : x, y) shared(x, y)
            x = y = 100;
            for (int i = 0; i < 60; ++i) {
#pragma omp task depend(mutexinoutset : x) shared(x, busy_x)
                {
                    CHECK_EQ(busy_x++, 0);
                    x += 1;
                    busy_x -= 1;
                }
#pragma omp task depend(mutexinoutset : y, x) shared(x, y, busy_x, busy_y)
                {
                    CHECK_EQ(busy_y++, 0);
                    CHECK_EQ(busy_x++, 0);
                    x += 1;
                    y += 1;
                    busy_x -= 1;
                    busy_y -= 1;
                }
            }
#pragma omp task depend(in : x) depend(in : y) shared(x, y)
            {
                CHECK_EQ(x, 220);
                CHECK_EQ(y, 160);
            }
#pragma omp task depend(mutexinoutset : x) shared(x)
            x = 5;
#pragma omp task depend(out : x) shared(x)
            CHECK_EQ(x, 5);
        }
    }
    return 0;
}
