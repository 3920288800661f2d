/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "hold.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a kernel thread, as a PE of the paper: a thread of a region in a region may be run by any. */
typedef struct {
    _Alignas(64) _Atomic(pthread_t) thread; /* 0: nobody's yet */
    double seconds;
} counter;

static counter *g_counters;
static int g_threads;
static int g_emulated;

void work_setup(int threads, int emulated) {
    g_threads = threads;
    g_emulated = emulated;
    g_counters = aligned_alloc(sizeof *g_counters, (size_t)threads * sizeof *g_counters);
    if (!g_counters) {
        fprintf(stderr, "front: no memory for counters of %d threads\n", threads);
        abort();
    }
    for (int i = 0; i < threads; ++i)
        g_counters[i] = (counter){0, 0};
}

/* More threads than were said share the last counter. */
static counter *own_counter(void) {
    const pthread_t self = pthread_self();
    for (int i = 0; i < g_threads - 1; ++i) {
        pthread_t owner = atomic_load_explicit(&g_counters[i].thread, memory_order_relaxed);
        if (owner == self ||
            (owner == 0 && atomic_compare_exchange_strong(&g_counters[i].thread, &owner, self)))
            return &g_counters[i];
    }
    return &g_counters[g_threads - 1];
}

static struct timespec now(void) {
    struct timespec time;
    clock_gettime(g_emulated ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
    return time;
}

struct timespec work_begin(void) {
    return now();
}

double work_end(struct timespec begun, double seconds) {
    if (g_emulated)
        hold_since(begun, seconds);
    const struct timespec end = now();
    const double took =
        (double)(end.tv_sec - begun.tv_sec) + 1e-9 * (double)(end.tv_nsec - begun.tv_nsec);
    counter *const own = own_counter();
#pragma omp atomic
    own->seconds += took;
    return took;
}

work_share work_since(void) {
    work_share share = {0, 0};
    for (int i = 0; i < g_threads; ++i) {
        const double seconds = g_counters[i].seconds;
        g_counters[i].seconds = 0;
        share.all += seconds;
        share.most = seconds > share.most ? seconds : share.most;
    }
    return share;
}
