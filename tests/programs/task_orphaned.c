/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 12.5 and 10: task constructs outside of every parallel region work in the implicit
 * parallel region of the initial thread; they are complete at taskwait.
 */
#include "check.h"

static int in_order(int n) {
    int x = 0, y = 0;
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : x) shared(x)
        CHECK_EQ(x++, i);
#pragma omp task depend(in : x) depend(inout : y) shared(x, y)
        y += x;
    }
#pragma omp taskwait
    return y;
}

int main(void) {
    int done = 0;
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(in_order(50), 1275);
#pragma omp taskgroup
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
        {
            CHECK_EQ(omp_get_thread_num(), 0);
            CHECK_EQ(omp_get_num_threads(), 1);
#pragma omp task shared(done)
            done += 1;
        }
    }
    CHECK_EQ(done, 10);
#pragma omp parallel
    CHECK_EQ(in_order(20), 210);
    CHECK_EQ(in_order(20), 210);
    return 0;
}
