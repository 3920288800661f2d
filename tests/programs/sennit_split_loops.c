/* SPDX-License-Identifier: Apache-2.0
 * test: variant=auto threads=2|4 SENNIT_SPLIT=auto OMP_SCHEDULE=guided,3
 *
 * sennit_split_loops.c - dynamic, guided and runtime loops under SENNIT_SPLIT=auto, where a worker
 * offers others a part of what it has: each iteration runs once, chunks are the program's, and who
 * is done takes what was not offered, too.
 */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { kCount = 1024, kRuns = 100, kChunk = 4 };

static int g_times[kCount], g_by[kCount];
static atomic_int g_done;

static void begin(void) {
    memset(g_times, 0, sizeof g_times);
    atomic_store(&g_done, 0);
}

static void iteration(int i) {
    ++g_times[i];
}

static void ran_once(int runs) {
    for (int i = 0; i < kCount; ++i)
        CHECK_EQ(g_times[i], runs);
}

static void chunks_are_kept(void) {
    for (int i = 0; i < kCount; ++i)
        CHECK_EQ(g_by[i], g_by[i / kChunk * kChunk]);
}

/* Run after run, as a program has them: balanced, then not. */
static void runs(void) {
    begin();
    int last = -1;
    for (int run = 0; run < kRuns; ++run) {
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, kChunk) lastprivate(last)
            for (int i = 0; i < kCount; ++i) {
                g_by[i] = omp_get_thread_num();
                if (run >= kRuns / 2 && i < kCount / 4)
                    for (volatile int turn = 0; turn < 200; ++turn) {
                    }
                last = i;
            }
#pragma omp single
            chunks_are_kept();
            /* Two loops at once: of one after the other that nobody waits for. */
#pragma omp for schedule(guided, kChunk) nowait
            for (int i = 0; i < kCount; ++i)
                atomic_fetch_add(&g_done, 1);
#pragma omp for schedule(runtime)
            for (int i = 0; i < kCount; ++i)
                ++g_times[i];
        }
        CHECK_EQ(last, kCount - 1);
    }
    CHECK_EQ(atomic_load(&g_done), kRuns * kCount);
    ran_once(kRuns);
}

static void each_once(void) {
    for (int run = 0; run < kRuns; ++run) {
        begin();
#pragma omp parallel for schedule(guided, kChunk)
        for (int i = 0; i < kCount; ++i)
            iteration(i);
        ran_once(1);
        begin();
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < kCount; ++i)
            iteration(i);
        ran_once(1);
        begin();
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < kCount; ++i)
            iteration(i);
        ran_once(1);
    }
}

static void wait_for(int others) {
    while (atomic_load(&g_done) < others)
        sched_yield();
}

/* The first iteration waits for nearly all others: those that its worker has, and has not offered,
 * are run by others. */
static void others_take_all(void) {
    for (int run = 0; run < 20; ++run) { /* from the ninth on, nothing was offered */
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < kCount; ++i)
            iteration(i);
    }
    begin();
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < kCount; ++i) {
        if (i == 0)
            wait_for(kCount - 1);
        atomic_fetch_add(&g_done, 1);
    }
    /* Its piece is half of what a worker has, which is half of all at most. */
    begin();
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < kCount; ++i) {
        if (i == 0)
            wait_for(kCount * 5 / 8);
        atomic_fetch_add(&g_done, 1);
    }
    CHECK_EQ(atomic_load(&g_done), kCount);
}

int main(void) {
    runs();
    each_once();
    others_take_all();
    return 0;
}
