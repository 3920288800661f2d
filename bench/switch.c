/* SPDX-License-Identifier: Apache-2.0
 *
 * switch.c - prints two floors in nanoseconds, medians of some samples: what it takes two threads
 * of one processor to pass it on by sched_yield and get it back, the least that a region can cost
 * whose threads share their processors; and what it takes two processors to pass a cache line there
 * and back, the least of any region ("-" where there is but one processor).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIPS = 20000, SAMPLES = 15 };
/* How often each has passed on: a line each, as a store to a line that one has just read waits
 * longer. */
static struct {
    _Alignas(128) atomic_int passed;
} sides[2];
static _Alignas(128) void (*wait_a_little)(void);

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void yield(void) {
    sched_yield();
}

static void pause_processor(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void pass_on(int mine) {
    for (int trip = 1; trip <= TRIPS; ++trip) {
        if (mine == 0)
            atomic_store_explicit(&sides[0].passed, trip, memory_order_release);
        while (atomic_load_explicit(&sides[!mine].passed, memory_order_acquire) != trip)
            wait_a_little();
        if (mine == 1)
            atomic_store_explicit(&sides[1].passed, trip, memory_order_release);
    }
}

static void *other(void *unused) {
    pass_on(1);
    return unused;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of a trip from here to `cpu` and back, negative when that gets no thread. It begins
 * there: one that had to move would first wait for a processor that spins. */
static double trip_ns(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_attr_t there;
    pthread_attr_init(&there);
    pthread_attr_setaffinity_np(&there, sizeof set, &set);
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; ++i) {
        atomic_store(&sides[0].passed, 0);
        atomic_store(&sides[1].passed, 0);
        pthread_t thread;
        const double begin = now_ns();
        if (pthread_create(&thread, &there, other, NULL) != 0)
            return -1;
        pass_on(0);
        pthread_join(thread, NULL);
        samples[i] = (now_ns() - begin) / TRIPS;
    }
    pthread_attr_destroy(&there);
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

int main(void) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int cpus[2], count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; ++cpu)
        if (CPU_ISSET(cpu, &set))
            cpus[count++] = cpu;
    CPU_ZERO(&set);
    CPU_SET(cpus[0], &set);
    sched_setaffinity(0, sizeof set, &set);
    wait_a_little = yield;
    printf("%.0f", trip_ns(cpus[0]));
    if (count < 2) {
        puts(" -");
        return 0;
    }
    wait_a_little = pause_processor;
    printf(" %.0f\n", trip_ns(cpus[1]));
    return 0;
}
