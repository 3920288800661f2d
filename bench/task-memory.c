/* SPDX-License-Identifier: Apache-2.0
 *
 * task-memory KIND COUNT - resident memory of a task that lives, in bytes:
 *
 *   waiting     created, and held back by a dependence
 *   detached    its body has ended, its event has not been fulfilled
 *   suspended   in the middle of its body, where it waits for somebody (Sennit alone: sennit.h)
 *
 * Prints how much the second COUNT tasks added, so that what a runtime sets up once does not count.
 * The team must be large: libgomp calls tasks in place past 64 a thread, which here would hang.
 */
#define _GNU_SOURCE
#include "harness.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 2 };

/* The part of sennit.h that is used here; a task is opaque. */
static int (*task_self)(void **task);
static int (*task_suspend)(void *task);
static int (*task_resume)(void *task);

static omp_event_handle_t *events;
static void **suspended;
static atomic_long arrived;

static long resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bench_check(file && fscanf(file, "%*s %ld", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void wait_until_arrived(long count) {
    while (atomic_load(&arrived) < count) {
#pragma omp taskyield
    }
}

static void create_waiting(long first, long count, char *gate) {
    (void)gate; /* GCC counts no use in a clause */
    for (long i = first; i < first + count; ++i) {
#pragma omp task depend(in : gate[0])
        atomic_fetch_add(&arrived, 1);
    }
}

static void create_detached(long first, long count, char *gate) {
    (void)gate;
    for (long i = first; i < first + count; ++i) {
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event)
        atomic_fetch_add(&arrived, 1);
        events[i] = event;
    }
    wait_until_arrived(first + count);
}

static void create_suspended(long first, long count, char *gate) {
    (void)gate;
    for (long i = first; i < first + count; ++i) {
#pragma omp task firstprivate(i)
        {
            task_self(&suspended[i]);
            atomic_fetch_add(&arrived, 1);
            task_suspend(suspended[i]);
        }
    }
    wait_until_arrived(first + count);
}

static void release_none(long total) {
    (void)total;
}

static void release_detached(long total) {
    for (long i = 0; i < total; ++i)
        omp_fulfill_event(events[i]);
}

static void release_suspended(long total) {
    for (long i = 0; i < total; ++i)
        task_resume(suspended[i]);
}

static const struct kind {
    const char *name;
    void (*create)(long first, long count, char *gate);
    void (*release)(long total);
} kinds[] = {
    {"waiting", create_waiting, release_none},
    {"detached", create_detached, release_detached},
    {"suspended", create_suspended, release_suspended},
};

static bool find_sennit(void) {
    *(void **)&task_self = dlsym(RTLD_DEFAULT, "sennit_task_self");
    *(void **)&task_suspend = dlsym(RTLD_DEFAULT, "sennit_task_suspend");
    *(void **)&task_resume = dlsym(RTLD_DEFAULT, "sennit_task_resume");
    return task_self && task_suspend && task_resume;
}

static double measure(const struct kind *kind, long count) {
    long bytes[ROUNDS + 1];
    char gate[1];
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t open_gate = (omp_event_handle_t)0;
#pragma omp task depend(out : gate[0]) detach(open_gate)
        gate[0] = 1;
        for (long round = 0; round <= ROUNDS; ++round) {
            bytes[round] = resident_bytes();
            if (round < ROUNDS)
                kind->create(round * count, count, gate);
        }
        omp_fulfill_event(open_gate);
        kind->release(ROUNDS * count);
#pragma omp taskwait
    }
    bench_check(atomic_load(&arrived) == ROUNDS * count, "every task ran");
    return (double)(bytes[ROUNDS] - bytes[ROUNDS - 1]) / (double)count;
}

int main(int argc, char **argv) {
    const struct kind *kind = kinds;
    const long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    while (argc == 3 && kind < kinds + BENCH_COUNT(kinds) && strcmp(kind->name, argv[1]) != 0)
        ++kind;
    if (count < 1 || kind == kinds + BENCH_COUNT(kinds)) {
        fprintf(stderr, "usage: %s waiting|detached|suspended COUNT\n", argv[0]);
        return 2;
    }
    if (kind->create == create_suspended && !find_sennit())
        return BENCH_EXIT_UNAVAILABLE;
    events = malloc((size_t)(ROUNDS * count) * sizeof *events);
    suspended = malloc((size_t)(ROUNDS * count) * sizeof *suspended);
    bench_check(events && suspended, "memory for the handles");
    memset(events, 0, (size_t)(ROUNDS * count) * sizeof *events);
    memset(suspended, 0, (size_t)(ROUNDS * count) * sizeof *suspended);
    printf("%s bytes=%.1f\n", kind->name, measure(kind, count));
    return EXIT_SUCCESS;
}
