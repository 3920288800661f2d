/* SPDX-License-Identifier: Apache-2.0
 * test: OMP_CANCELLATION=true
 * test: variant=split2|split4|split8 threads=1|2|4 SENNIT_SPLIT={variant[5:]}
 *     OMP_CANCELLATION=true
 * test: variant=split1|split3|split5|split6|split7 threads=2 SENNIT_SPLIT={variant[5:]}
 *     OMP_CANCELLATION=true
 * test: variant=splitauto threads=2|4 SENNIT_SPLIT=auto OMP_CANCELLATION=true
 * test: variant=inner threads=2|4 SENNIT_SPLIT=inner OMP_CANCELLATION=true IN_TASKS=1
 * test: variant=innerauto threads=2|4 SENNIT_SPLIT=auto OMP_CANCELLATION=true IN_TASKS=1
 *
 * random_regions.c - random sequences of constructs in parallel regions, nested ones too, against
 * what one thread computes. All threads of a region draw the same sequence. With IN_TASKS each
 * region is encountered by a task: then it has one thread, or as many as it asks for.
 */
#include "check.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 400, kRegions = 60, kMostThreads = 256 };

static unsigned next(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Work that is not the same for all iterations. */
static long work(long i) {
    volatile long x = i;
    for (long k = 0; k < i % 64; ++k)
        x += k;
    return x - (i % 64) * (i % 64 - (i % 64 > 0)) / 2;
}

static long g_sum, g_last, g_count, g_value;
static long g_cell[kMost], g_by_thread[kMostThreads], g_order[kMost];
static int g_who[kMost];
static long g_at;

static long sum_to(long n) {
    return n * (n - 1) / 2;
}

static void begin(void) {
#pragma omp single
    {
        g_sum = g_count = g_at = 0;
        g_last = g_value = -1;
        memset(g_cell, 0, sizeof g_cell);
        memset(g_by_thread, 0, sizeof g_by_thread);
    }
}

static void static_loop(unsigned n, unsigned chunk) {
    int monotone = 1;
    long before = -1;
    if (chunk == 0) {
#pragma omp for schedule(static) reduction(+ : g_sum) lastprivate(g_last)
        for (long i = 0; i < (long)n; ++i) {
            g_sum += work(i);
            g_last = 3 * i;
            g_who[i] = omp_get_thread_num();
            monotone &= i > before;
            before = i;
        }
    } else {
#pragma omp for schedule(static, chunk) reduction(+ : g_sum) lastprivate(g_last)
        for (long i = 0; i < (long)n; ++i) {
            g_sum += work(i);
            g_last = 3 * i;
            g_who[i] = omp_get_thread_num();
            monotone &= i > before;
            before = i;
        }
    }
    CHECK(monotone);
    CHECK(g_sum == sum_to(n));
    CHECK(g_last == 3 * ((long)n - 1));
#pragma omp single
    {
        const long threads = omp_get_num_threads();
        for (long i = 0; i < (long)n; ++i) {
            if (chunk > 0)
                CHECK(g_who[i] == i / (long)chunk % threads);
            else
                CHECK(i == 0 || g_who[i] >= g_who[i - 1]);
        }
    }
}

/* Iterations that cannot tell who runs them: compiled with the plug-in they may be lent. */
static long weight(long i) {
    long sum = 0;
    for (long k = 0; k < i % 64; ++k)
        sum += k ^ i;
    return sum;
}

static void plain_loop(unsigned n) {
    long total = 0;
#pragma omp barrier
#pragma omp for schedule(static)
    for (long i = 0; i < (long)n; i += 3)
        g_cell[i] += weight(i) + 1;
#pragma omp for schedule(static) reduction(+ : g_sum)
    for (long i = (long)n - 1; i >= 0; --i)
        g_sum += weight(i);
    for (long i = 0; i < (long)n; ++i) {
        CHECK(g_cell[i] == (i % 3 == 0 ? weight(i) + 1 : 0));
        total += weight(i);
    }
    CHECK(g_sum == total);
}

static void other_loop(unsigned n, unsigned kind) {
    if (kind == 0) {
#pragma omp for schedule(dynamic) nowait
        for (long i = 0; i < (long)n; ++i)
            g_cell[i] += work(i);
    } else if (kind == 1) {
#pragma omp for schedule(guided) nowait
        for (long i = 0; i < (long)n; ++i)
            g_cell[i] += work(i);
    } else if (kind == 2) {
#pragma omp for schedule(runtime) nowait
        for (long i = 0; i < (long)n; ++i)
            g_cell[i] += work(i);
    } else {
#pragma omp for schedule(monotonic : dynamic, 3) nowait
        for (long i = 0; i < (long)n; ++i)
            g_cell[i] += work(i);
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (long i = 0; i < (long)n; ++i)
        CHECK(g_cell[i] == i);
}

static void ordered_loop(unsigned n, int is_static) {
    if (is_static) {
#pragma omp for ordered schedule(static, 2)
        for (long i = 0; i < (long)n; ++i) {
            const long x = work(i);
#pragma omp ordered
            g_order[g_at++] = x;
        }
    } else {
#pragma omp for ordered schedule(dynamic)
        for (long i = 0; i < (long)n; ++i) {
            const long x = work(i);
#pragma omp ordered
            g_order[g_at++] = x;
        }
    }
#pragma omp single
    for (long i = 0; i < (long)n; ++i)
        CHECK(g_order[i] == i);
}

static void doacross_loop(unsigned n) {
#pragma omp for ordered(1) schedule(static)
    for (long i = 0; i < (long)n; ++i) {
#pragma omp ordered depend(sink : i - 1)
        g_cell[i] = i == 0 ? 1 : g_cell[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    CHECK(g_cell[n - 1] == (long)n);
}

static void threads_once(void) {
    const int me = omp_get_thread_num();
    CHECK(me >= 0 && me < omp_get_num_threads());
#pragma omp atomic
    ++g_by_thread[me];
#pragma omp critical(random_regions)
    {
        const long seen = g_count;
        work(me);
        g_count = seen + 1;
    }
#pragma omp barrier
    CHECK(g_by_thread[me] == 1);
    CHECK(g_count == omp_get_num_threads());
}

static void singles(void) {
    long mine = -1;
#pragma omp single copyprivate(mine)
    mine = 77;
    CHECK(mine == 77);
#pragma omp single nowait
    {
#pragma omp atomic
        ++g_count;
    }
#pragma omp masked
    g_value = omp_get_thread_num();
#pragma omp barrier
    CHECK(g_count == 1);
    CHECK(g_value == 0);
}

static void some_sections(void) {
#pragma omp sections reduction(+ : g_sum) lastprivate(g_last)
    {
#pragma omp section
        g_sum += work(1);
#pragma omp section
        g_sum += work(20);
#pragma omp section
        g_sum += work(300);
#pragma omp section
        {
            g_sum += work(5);
            g_last = 5;
        }
    }
    CHECK(g_sum == 326);
    CHECK(g_last == 5);
}

static void some_tasks(unsigned n) {
    long mine = 0;
    for (long i = 0; i < 8; ++i) {
#pragma omp task shared(mine)
        {
            const long x = work(i);
#pragma omp atomic
            mine += x;
#pragma omp atomic
            ++g_count;
        }
    }
#pragma omp taskwait
    CHECK(mine == sum_to(8));
#pragma omp single nowait
    {
        long chain = 0;
#pragma omp taskgroup
        for (long i = 0; i < (long)n; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            chain = chain == i ? i + 1 : -1000;
        }
        CHECK(chain == (long)n);
#pragma omp taskloop grainsize(3) shared(g_cell)
        for (long i = 0; i < (long)n; ++i)
            g_cell[i] = i;
        long loop = 0;
#pragma omp taskloop reduction(+ : loop)
        for (long i = 0; i < (long)n; ++i)
            loop += work(i);
        CHECK(loop == sum_to((long)n));
    }
    /* Left for the barrier. */
#pragma omp task
    {
#pragma omp atomic
        ++g_count;
    }
#pragma omp barrier
    CHECK(g_count == 9 * omp_get_num_threads());
    CHECK(g_cell[n - 1] == (long)n - 1);
}

static void task_reduction(void) {
    long total = 0;
#pragma omp parallel reduction(task, + : total) num_threads(3)
    {
        const int threads = omp_get_num_threads();
#pragma omp task in_reduction(+ : total)
        total += 10;
        total += threads - threads + 1;
    }
    CHECK(total % 11 == 0 && total > 0);
}

static void nested(unsigned n) {
    long sum = 0;
    int inner = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(static) lastprivate(inner)
    for (long i = 0; i < (long)n; ++i) {
        sum += work(i);
        inner = omp_get_level();
    }
    CHECK(sum == sum_to(n));
    CHECK(inner >= 2);
#pragma omp barrier
}

static omp_lock_t g_lock;
static omp_nest_lock_t g_nest_lock;

static void with_locks(void) {
    for (int i = 0; i < 3; ++i) {
        omp_set_lock(&g_lock);
        const long seen = g_count;
        if (i == 1) {
#pragma omp taskyield
        }
        g_count = seen + 1;
        omp_unset_lock(&g_lock);
        omp_set_nest_lock(&g_nest_lock);
        omp_set_nest_lock(&g_nest_lock);
        ++g_sum;
        omp_unset_nest_lock(&g_nest_lock);
        omp_unset_nest_lock(&g_nest_lock);
    }
#pragma omp barrier
    CHECK(g_count == 3 * omp_get_num_threads());
    CHECK(g_sum == 3 * omp_get_num_threads());
}

static void cancelled_loop(unsigned n) {
#pragma omp for schedule(static)
    for (long i = 0; i < (long)n; ++i) {
#pragma omp atomic
        ++g_count;
        if (i == (long)n / 2) {
#pragma omp cancel for
        }
#pragma omp cancellation point for
    }
    if (!omp_get_cancellation())
        CHECK(g_count == (long)n);
    CHECK(g_count >= 1 && g_count <= (long)n);
}

static void cancelled_region(void) {
    long arrived = 0;
#pragma omp parallel shared(arrived)
    {
#pragma omp atomic
        ++arrived;
        if (omp_get_thread_num() == omp_get_num_threads() / 2) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp cancellation point parallel
        if (omp_get_cancellation())
            CHECK(!"nobody passes the barrier of a cancelled region");
    }
    CHECK(arrived >= 1);
}

static void construct(unsigned *state) {
    const unsigned n = 1 + next(state) % (kMost - 1);
    const unsigned more = next(state);
    begin();
    switch (next(state) % 13) {
    case 0:
        static_loop(n, 0);
        break;
    case 1:
        static_loop(n, 1 + more % 9);
        break;
    case 2:
        other_loop(n, more % 4);
        break;
    case 3:
        ordered_loop(n % 40 + 1, (int)(more % 2));
        break;
    case 4:
        doacross_loop(n % 50 + 1);
        break;
    case 5:
        threads_once();
        break;
    case 6:
        singles();
        break;
    case 7:
        some_sections();
        break;
    case 8:
        some_tasks(n % 50 + 1);
        break;
    case 9:
        nested(n);
        break;
    case 10:
        with_locks();
        break;
    case 11:
        cancelled_loop(n);
        break;
    case 12:
        plain_loop(n);
        break;
    }
#pragma omp barrier
}

static void random_region(unsigned *state, int region, int usual, int in_task) {
    const unsigned seed = next(state);
    const int constructs = 1 + (int)(next(state) % 6);
    long total = 0;
    int most = usual, threads = 0;
    if (region % 5 == 4) { /* a number that the environment has not chosen */
        most = 3 + region % 4;
        omp_set_num_threads(most);
    }
#pragma omp parallel reduction(+ : total)
    {
        unsigned mine = seed;
#pragma omp single
        threads = omp_get_num_threads();
        for (int i = 0; i < constructs; ++i)
            construct(&mine);
        total += omp_get_thread_num() + 1;
    }
    CHECK(threads == most || (in_task && threads == 1));
    CHECK(total == sum_to(threads + 1));
    if (region % 7 == 0)
        cancelled_region();
    if (region % 7 == 3)
        task_reduction();
    if (region % 5 == 4)
        omp_set_num_threads(usual);
}

int main(void) {
    const int regions = getenv("REGIONS") ? atoi(getenv("REGIONS")) : kRegions;
    const int usual = omp_get_max_threads();
    unsigned state = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : 12345;
    omp_init_lock(&g_lock);
    omp_init_nest_lock(&g_nest_lock);
    if (!getenv("IN_TASKS")) {
        omp_set_max_active_levels(2);
        for (int region = 0; region < regions; ++region)
            random_region(&state, region, usual, 0);
    } else {
#pragma omp parallel
#pragma omp single
        for (int region = 0; region < regions; ++region) {
#pragma omp task shared(state)
            random_region(&state, region, omp_get_max_threads(), 1);
#pragma omp taskwait
        }
    }
    omp_destroy_lock(&g_lock);
    omp_destroy_nest_lock(&g_nest_lock);
    return 0;
}
