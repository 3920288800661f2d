/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_CANCELLATION=true # stock libomp waits for the event
 * OpenMP 5.2, 11.2: a cancelled taskgroup ends although detachable tasks of it that never began
 * were to fulfil their events themselves; an event that its creator fulfils later is still good.
 * A task that has begun is not discarded.
 */
#include "check.h"

enum { many = 200 };

int main(void) {
    CHECK(omp_get_cancellation());
    omp_event_handle_t events[many];
    int cancelled = 0, begun = 0, ended = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
            int gate = 0;
            (void)gate; /* only an address */
#pragma omp task depend(out : gate) shared(cancelled)
            {
                cancelled = 1;
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < many; ++i) {
                omp_event_handle_t own;
#pragma omp task depend(in : gate) detach(own)
                omp_fulfill_event(own);
                omp_event_handle_t event;
#pragma omp task depend(in : gate) detach(event) shared(events)
                (void)events;
                events[i] = event;
            }
        }
        CHECK(cancelled);
        for (int i = 0; i < many; ++i)
            omp_fulfill_event(events[i]);

#pragma omp taskgroup
        for (int i = 0; i < 20; ++i) {
#pragma omp task untied shared(begun, ended)
            {
#pragma omp atomic
                begun += 1;
#pragma omp taskyield
#pragma omp atomic
                ended += 1;
#pragma omp cancel taskgroup
            }
        }
        CHECK(begun > 0);
        CHECK_EQ(begun, ended);
    }
    return 0;
}
