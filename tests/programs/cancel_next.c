/* SPDX-License-Identifier: Apache-2.0
 * test, split: OMP_CANCELLATION=true # stock libomp: assertion failures of its own
 * OpenMP 5.2, 11.5: a cancellation ends one region of one construct. What comes next is whole:
 * another region, loop, sections, tasks, a barrier. Every kind of cancellation is followed by all
 * of them, in the same team and in the next one, on each level.
 */
#include "check.h"
#include <stdlib.h>

enum { iterations = 1000 };

/* A cancellation point. GCC leaves out those that stand in no construct with a cancel. */
static volatile int never;

/* No variable of the caller's: GCC leaves out the barrier that ends a region's last construct if no
 * task could look at one. Two zeros, to be freed. */
static int *counters(void) {
    int *made = calloc(2, sizeof(int));
    CHECK(made);
    return made;
}

/* ---- what comes next; counts are exact ---- */

static void next_loops(void) {
    int done[3] = {0};
#pragma omp parallel shared(done)
    {
#pragma omp for
        for (int i = 0; i < iterations; ++i) {
#pragma omp cancel for if (never)
#pragma omp atomic
            ++done[0];
        }
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < iterations; ++i) {
#pragma omp cancel for if (never)
#pragma omp atomic
            ++done[1];
        }
    }
#pragma omp parallel shared(done)
#pragma omp for schedule(guided)
    for (int i = 0; i < iterations; ++i) {
#pragma omp cancel for if (never)
#pragma omp atomic
        ++done[2];
    }
    for (int i = 0; i < 3; ++i)
        CHECK_EQ(done[i], iterations);
}

static void next_sections(void) {
    int done = 0;
#pragma omp parallel shared(done)
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections if (never)
#pragma omp atomic
            ++done;
        }
#pragma omp section
        {
#pragma omp cancel sections if (never)
#pragma omp atomic
            ++done;
        }
    }
    CHECK_EQ(done, 2);
}

static void next_tasks(void) {
    int done = 0, pieces = 0, plain = 0;
#pragma omp parallel shared(done, pieces, plain)
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
            {
#pragma omp cancel taskgroup if (never)
#pragma omp atomic
                ++done;
            }
        }
#pragma omp taskloop grainsize(3) shared(pieces)
        for (int i = 0; i < 20; ++i) {
#pragma omp cancel taskgroup if (never)
#pragma omp atomic
            ++pieces;
        }
        for (int i = 0; i < 20; ++i) {
#pragma omp task shared(plain) if (i % 2)
#pragma omp atomic
            ++plain;
        }
    }
    CHECK_EQ(done, 20);
    CHECK_EQ(pieces, 20);
    CHECK_EQ(plain, 20);
}

static void next_barriers(void) {
    int before = 0, after = 0, size = 0;
#pragma omp parallel shared(before, after, size)
    {
#pragma omp single
        size = omp_get_num_threads();
#pragma omp cancel parallel if (never)
#pragma omp atomic
        ++before;
#pragma omp barrier
        int seen;
#pragma omp atomic read
        seen = before;
        CHECK_EQ(seen, omp_get_num_threads());
#pragma omp atomic
        ++after;
    }
    CHECK_EQ(before, size);
    CHECK_EQ(after, size);
}

static void all_next(void) {
    next_loops();
    next_sections();
    next_tasks();
    next_barriers();
}

/* In the team where something was cancelled. */
static void next_in_team(int *done) {
#pragma omp for
    for (int i = 0; i < iterations; ++i) {
#pragma omp cancel for if (never)
#pragma omp atomic
        ++*done;
    }
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections if (never)
#pragma omp atomic
            ++*done;
        }
    }
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(done)
            {
#pragma omp cancel taskgroup if (never)
#pragma omp atomic
                ++*done;
            }
        }
    }
}

/* ---- cancellations ---- */

static void cancel_region(void) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        }
#pragma omp barrier
        CHECK(0); /* nobody comes here */
    }
}

static void cancel_static_loop(void) {
    int *const done = counters();
#pragma omp parallel
#pragma omp for schedule(static)
    for (int i = 0; i < iterations; ++i) {
#pragma omp atomic
        ++*done;
#pragma omp cancel for
    }
    CHECK(*done >= 1 && *done <= 64);
    free(done);
}

static void cancel_dynamic_loop(void) {
    int *const done = counters();
#pragma omp parallel
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < iterations; ++i) {
#pragma omp atomic
        ++*done;
#pragma omp cancel for
    }
    CHECK(*done >= 1 && *done <= 64);
    free(done);
}

/* The last construct of its region, and one with others behind it. */
static void cancel_loop_in_region(void) {
    int *const done = counters(), *const next = done + 1;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < iterations; ++i) {
#pragma omp atomic
            ++*done;
#pragma omp cancel for
        }
        next_in_team(next);
#pragma omp for
        for (int i = 0; i < iterations; ++i) {
#pragma omp atomic
            ++*done;
#pragma omp cancel for
        }
    }
    CHECK(*done >= 2 && *done <= 128);
    CHECK_EQ(*next, iterations + 2);
    free(done);
}

static void cancel_sections(void) {
    int *const late = counters(), *const next = late + 1;
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
#pragma omp atomic
                ++*late;
            }
#pragma omp section
            {
#pragma omp cancel sections if (never)
            }
        }
        next_in_team(next);
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
#pragma omp atomic
                ++*late;
            }
        }
    }
#pragma omp parallel
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections
#pragma omp atomic
            ++*late;
        }
    }
    CHECK_EQ(*late, 0);
    CHECK_EQ(*next, iterations + 2);
    free(late);
}

static void cancel_taskgroup(void) {
    int *const next = counters();
#pragma omp parallel
    {
#pragma omp single
        {
#pragma omp taskgroup
            for (int i = 0; i < 20; ++i) {
#pragma omp task if (i % 3)
                {
#pragma omp cancel taskgroup
                }
            }
#pragma omp taskloop grainsize(1)
            for (int i = 0; i < 20; ++i) {
#pragma omp cancel taskgroup
            }
        }
        next_in_team(next);
    }
    CHECK_EQ(*next, iterations + 2);
    free(next);
}

/* Of loops and sections whose region is not in the same function; here, of the initial thread. */
static void cancel_orphans(void) {
    int done = 0;
#pragma omp for
    for (int i = 0; i < iterations; ++i) {
        ++done;
#pragma omp cancel for
    }
    CHECK_EQ(done, 1);
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections
            ++done;
        }
    }
    CHECK_EQ(done, 1);
    next_in_team(&done);
    CHECK_EQ(done, iterations + 3);
}

static void (*const cancellations[])(void) = {
    cancel_region,         cancel_static_loop, cancel_dynamic_loop,
    cancel_loop_in_region, cancel_sections,    cancel_taskgroup,
};
enum { kinds = sizeof cancellations / sizeof cancellations[0] };

static void each_then_all(void) {
    for (int first = 0; first < kinds; ++first) {
        cancellations[first]();
        all_next();
        cancellations[first]();
        cancellations[(first + 1) % kinds]();
        next_loops();
    }
}

int main(void) {
    CHECK(omp_get_cancellation());
    omp_set_max_active_levels(3);
    each_then_all();
    cancel_orphans();
    all_next();
#pragma omp parallel num_threads(2)
    each_then_all();
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(1)
        {
            cancel_orphans();
            for (int i = 0; i < kinds; ++i)
                cancellations[i]();
        }
#pragma omp parallel num_threads(1)
        all_next();
    }
    return 0;
}
