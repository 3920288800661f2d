// SPDX-License-Identifier: Apache-2.0
// test:
// A task outside of every parallel region is run where it is created, unless something in the
// process suspends tasks: programs that stock runtimes let get away without a taskwait are many.
#include "check.h"

int main(void) {
    int x = 0;
#pragma omp task shared(x)
    x = 1;
    CHECK_EQ(x, 1);
    for (int i = 2; i < 100; ++i) {
#pragma omp task shared(x) firstprivate(i) depend(inout : x)
        x = i;
        CHECK_EQ(x, i);
#pragma omp task shared(x)
        {
#pragma omp task shared(x)
            x = -i;
#pragma omp taskwait
        }
        CHECK_EQ(x, -i);
    }
    return 0;
}
