// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 13.8: with nowait the encountering task goes on at once, though what the target task
// depends on ends only when the encountering task says so.
#include "check.h"

int main(void) {
    for (int round = 0; round < 20; ++round) {
        int x = 0, y = 20;
        omp_event_handle_t event = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task detach(event) depend(out : x)
            (void)event;
#pragma omp target enter data map(to : x) nowait depend(inout : x)
#pragma omp target nowait depend(inout : x) map(tofrom : x) firstprivate(y) thread_limit(2)
            x = 2 * x + y;
#pragma omp target update from(x) nowait depend(inout : x)
#pragma omp target exit data map(from : x) nowait depend(in : x)
            x = 11;
            y = 0;
            omp_fulfill_event(event);
#pragma omp taskwait
            CHECK_EQ(x, 42);
        }
    }
    return 0;
}
