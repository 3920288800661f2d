/* SPDX-License-Identifier: Apache-2.0
 * test: # stock libomp crashes in teams
 *
 * Explicit tasks outside of parallel regions: nobody else could run them, and programs rely on what
 * both compilers' runtimes do: they run at once, one after the other, also in other tasks and in
 * teams. */
#include "check.h"

static int done;

static void in_order(void) {
    for (int i = 0; i < 1000; ++i) {
        const int before = done;
#pragma omp task
        ++done;
        CHECK_EQ(done, before + 1);
    }
}

static void with_dependences(void) {
    int value = 0;
#pragma omp task depend(out : value) shared(value)
    value = 1;
    CHECK_EQ(value, 1);
#pragma omp task depend(in : value) shared(value)
    {
        CHECK_EQ(value, 1);
        in_order();
        value = 2;
    }
    CHECK_EQ(value, 2);
}

#ifdef __clang__
/* GCC's runtime waits for the event first. */
static void with_event(void) {
    omp_event_handle_t event = 0;
    const int before = done;
#pragma omp task detach(event)
    ++done;
    omp_fulfill_event(event);
    CHECK_EQ(done, before + 1);
#pragma omp taskwait
    in_order(); /* the process may suspend from now on */
}
#endif

int main(void) {
    in_order();
    with_dependences();
#pragma omp parallel
#pragma omp single
#pragma omp task
    ++done;
    in_order();
#pragma omp teams num_teams(1)
    in_order();
#ifdef __clang__
    with_event();
#endif
    return 0;
}
