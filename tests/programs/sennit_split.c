/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lm
 * test: variant=2|4|8 threads=1|2|4 SENNIT_SPLIT={variant}
 * test: variant=auto threads=2|4 SENNIT_SPLIT=auto
 *
 * sennit_split.c - SENNIT_SPLIT=K under OMP_NUM_THREADS=P: regions of K * P threads on P workers.
 */
#include "check.h"

#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

enum { kMost = 512 };

static int g_split, g_workers, g_all;

static int from_environment(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 1;
}

/* How many kernel threads are among those of the region's threads. */
static int distinct(const long *who, int count) {
    int found = 0;
    for (int i = 0; i < count; ++i) {
        int first = 1;
        for (int k = 0; k < i; ++k)
            first &= who[k] != who[i];
        found += first;
    }
    return found;
}

static void numbers(void) {
    long who[kMost] = {0};
    int times[kMost] = {0};
    CHECK_EQ(omp_get_max_threads(), g_all);
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        CHECK_EQ(omp_get_num_threads(), g_all);
        who[me] = syscall(SYS_gettid);
#pragma omp atomic
        ++times[me];
    }
    for (int i = 0; i < g_all; ++i)
        CHECK_EQ(times[i], 1);
    CHECK(distinct(who, g_all) <= g_workers);
}

/* A number that the program asks for is what it gets, on as many workers at most. */
static void asked_for(void) {
    for (int threads = 1; threads <= 2 * g_all && threads < kMost; ++threads) {
        long who[kMost] = {0};
        int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            CHECK_EQ(omp_get_num_threads(), threads);
            who[omp_get_thread_num()] = syscall(SYS_gettid);
            sum += omp_get_thread_num();
        }
        CHECK_EQ(sum, threads * (threads - 1) / 2);
        CHECK(distinct(who, threads) <= g_workers);
    }
}

/* Regions so short that a worker is still looking for threads of the last one when the next one
 * begins: each thread runs once all the same. */
static void one_after_the_other(void) {
    enum { kRegions = 100 };
    static int times[kMost];
    memset(times, 0, sizeof times);
    for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel
        ++times[omp_get_thread_num()];
    }
    for (int i = 0; i < g_all; ++i)
        CHECK_EQ(times[i], kRegions);
}

/* A few threads have most of the work, and in time others have it: where workers begin follows.
 * Each thread runs once all the same, and its iterations are its own. */
static void moving_load(void) {
    enum { kRegions = 60 };
    static int times[kMost], by[4 * kMost];
    memset(times, 0, sizeof times);
    for (int region = 0; region < kRegions; ++region) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            ++times[me];
            if ((me + region / 10) % g_all < 3)
                for (volatile int i = 0; i < 20000; ++i) {
                }
#pragma omp for schedule(static) nowait
            for (int i = 0; i < 4 * g_all; ++i)
                by[i] = me;
        }
        for (int i = 0; i < 4 * g_all; ++i)
            CHECK_EQ(by[i], i / 4);
    }
    for (int i = 0; i < g_all; ++i)
        CHECK_EQ(times[i], kRegions);
}

/* Which thread has which iterations does not depend on who runs it. */
static void same_partition(void) {
    static int first[kMost * 8], again[kMost * 8];
    const int count = 8 * g_all;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i)
        first[i] = omp_get_thread_num();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i)
        again[i] = omp_get_thread_num();
    for (int i = 0; i < count; ++i) {
        CHECK_EQ(first[i], i / 8);
        CHECK_EQ(again[i], first[i]);
    }
}

/* The first thread of the last worker waits for all others to end. So somebody else has to run
 * those that its worker would have run next. */
static void others_help(void) {
    if (g_workers < 2)
        return;
    const int waits = (g_workers - 1) * g_split;
    atomic_int ended = 0;
#pragma omp parallel
    {
        if (omp_get_thread_num() == waits)
            while (atomic_load(&ended) < g_all - 1)
                sched_yield();
        atomic_fetch_add(&ended, 1);
    }
    CHECK_EQ(atomic_load(&ended), g_all);
}

/* Every thread comes to every barrier, whatever runs on its worker meanwhile. */
static void barriers(void) {
    enum { kBarriers = 50 };
    static int at[kMost];
    memset(at, 0, sizeof at);
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        for (int i = 0; i < kBarriers; ++i) {
            at[me] = i;
#pragma omp barrier
            CHECK_EQ(at[(me + 1) % g_all], i);
#pragma omp barrier
        }
    }
}

/* Who yields, or waits for a lock of its thread's, lets the next thread begin. */
static void yields(void) {
    int arrived = 0;
#pragma omp parallel
    {
#pragma omp atomic
        ++arrived;
        int now = 0;
        while (now < g_all) {
#pragma omp taskyield
#pragma omp atomic read
            now = arrived;
        }
    }
    CHECK_EQ(arrived, g_all);
}

/* A thread that changes the rounding leaves it to no other one. */
static void rounding(void) {
    for (int i = 0; i < 3; ++i) {
        int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
        {
            if (omp_get_thread_num() % g_split != 0) /* not its worker's first: those keep theirs */
                wrong += fegetround() != FE_TONEAREST;
            if (omp_get_thread_num() % g_split == 1)
                fesetround(FE_UPWARD);
        }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(fegetround(), FE_TONEAREST);
    }
}

static void explicit_tasks(void) {
    int done = 0;
    int numbers_right = 1;
#pragma omp parallel
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(done, numbers_right)
            {
                const int me = omp_get_thread_num();
                if (me < 0 || me >= g_all)
                    numbers_right = 0;
#pragma omp atomic
                ++done;
            }
        }
        if (omp_get_thread_num() % 3 == 0) {
#pragma omp taskwait
        }
    }
    CHECK_EQ(done, 100 * g_all);
    CHECK(numbers_right);
}

int main(void) {
    g_workers = from_environment("OMP_NUM_THREADS");
    const char *split = getenv("SENNIT_SPLIT");
    g_split = split && strcmp(split, "auto") == 0 ? 8 : from_environment("SENNIT_SPLIT");
    g_all = g_split * g_workers;
    for (int round = 0; round < 20; ++round) {
        numbers();
        one_after_the_other();
        same_partition();
        moving_load();
        others_help();
        barriers();
        yields();
        explicit_tasks();
    }
    asked_for();
    rounding();
#pragma omp parallel num_threads(2)
    CHECK_EQ(omp_get_max_threads(), g_workers); /* of a region in this one */
    return 0;
}
