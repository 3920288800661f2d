/* SPDX-License-Identifier: Apache-2.0
 * test, tool:
 * OpenMP 5.2, 12.6 (taskloop): each logical iteration runs exactly once, under every grainsize and
 * num_tasks, collapse, signed and unsigned bounds; if, final, nogroup, untied, mergeable, priority.
 */
#include "check.h"
#include <string.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
enum { most = 600 };
static int count[most];

static void each_ran_once(int n) {
    for (int i = 0; i < most; ++i)
        CHECK_EQ(count[i], i < n);
    memset(count, 0, sizeof count);
}

#define LOOP(n, ...)                                                                               \
    do {                                                                                           \
        PRAGMA(omp taskloop __VA_ARGS__)                                                           \
        for (int i = 0; i < n; ++i) {                                                              \
            PRAGMA(omp atomic)                                                                     \
            count[i] += 1;                                                                         \
        }                                                                                          \
        each_ran_once(n);                                                                          \
    } while (0)

static void grain_sizes_are_respected(int grain) {
    /* between grain and 2 grain - 1 iterations a task, the last one aside: tasks of one thread are
     * seen as stretches that no other task of the loop interrupts */
    int tasks = 0, last_of_thread[64];
    memset(last_of_thread, -1, sizeof last_of_thread);
#pragma omp taskloop grainsize(grain) shared(tasks, last_of_thread) firstprivate(grain)
    for (int i = 0; i < most; ++i) {
        int *last = &last_of_thread[omp_get_thread_num()];
        if (*last != i - 1) {
#pragma omp atomic
            tasks += 1;
        }
        *last = i;
    }
    CHECK(tasks <= (most + grain - 1) / grain);
}

static void every_clause(void) {
    static const int sizes[] = {0, 1, 5, 64, most};
    for (int s = 0; s < 5; ++s) {
        const int n = sizes[s];
        LOOP(n, );
        LOOP(n, if (0));
        LOOP(n, final(1));
        LOOP(n, untied mergeable priority(2));
        for (int k = 1; k < 1000; k *= 7) {
            LOOP(n, grainsize(k));
            LOOP(n, num_tasks(k));
        }
        LOOP(n, num_tasks(8) final(1) mergeable);
    }
    for (int grain = 1; grain <= 64; grain *= 4)
        grain_sizes_are_respected(grain);
}

static void bounds(void) {
    unsigned long long sum = 0;
    const unsigned long long base = ~0ULL - 1000;
#pragma omp taskloop shared(sum) num_tasks(7)
    for (unsigned long long i = base; i < base + 700; i += 7) {
#pragma omp atomic
        sum += i - base;
    }
    CHECK_EQ(sum, 34650);
    sum = 0;
#pragma omp taskloop shared(sum) grainsize(3)
    for (int i = 100; i >= -100; i -= 3) {
#pragma omp atomic
        sum += (unsigned long long)(i + 100);
    }
    CHECK_EQ(sum, 6767);
}

static void collapse(void) {
#pragma omp taskloop collapse(3) num_tasks(11)
    for (int i = 0; i < 5; ++i)
        for (long j = 9; j >= 0; --j)
            for (unsigned k = 0; k < 12; ++k) {
#pragma omp atomic
                count[i * 120 + j * 12 + k] += 1;
            }
    each_ran_once(600);
}

static void nogroup_is_awaited_by_taskwait(void) {
#pragma omp taskloop nogroup grainsize(10)
    for (int i = 0; i < most; ++i) {
#pragma omp atomic
        count[i] += 1;
    }
#pragma omp taskwait
    each_ran_once(most);
}

static void a_taskloop_waits_for_descendants(void) {
    int done = 0;
#pragma omp taskloop num_tasks(5) shared(done)
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
        {
#pragma omp atomic
            done += 1;
        }
    }
    CHECK_EQ(done, 20);
}

int main(void) {
#pragma omp parallel
#pragma omp single
    {
        every_clause();
        bounds();
        collapse();
        nogroup_is_awaited_by_taskwait();
        a_taskloop_waits_for_descendants();
    }
    every_clause();
    bounds();
    return 0;
}
