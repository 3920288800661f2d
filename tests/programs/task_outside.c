/* SPDX-License-Identifier: Apache-2.0
 * test: # stock libgomp waits for ever
 * Outside of parallel regions tasks run where they are created; but one that depends on a detached
 * task has to wait (OpenMP 5.2, 12.5), and does so in the order of the policy.
 */
#include "check.h"

int main(void) {
    static int order[3];
    static int x[2];
    (void)x; /* only names dependences */
    int ran = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : x[0]) shared(ran)
    order[ran++] = 1;
    CHECK_EQ(ran, 1);
#pragma omp task depend(in : x[0]) depend(out : x[1]) shared(ran)
    order[ran++] = 2;
#pragma omp task depend(in : x[1]) shared(ran)
    order[ran++] = 3;
    CHECK_EQ(ran, 1);
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK_EQ(ran, 3);
    for (int i = 0; i < 3; ++i)
        CHECK_EQ(order[i], i + 1);
    return 0;
}
