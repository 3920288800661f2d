/* SPDX-License-Identifier: Apache-2.0
 *
 * switch.c - prints how many nanoseconds it takes two threads of one processor to pass it on by
 * sched_yield and get it back, median of some samples: the least that a region can cost whose
 * threads share their processors.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIPS = 20000, SAMPLES = 15 };
static atomic_int turn;

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void pass_on(int mine) {
    for (int i = 0; i < TRIPS; ++i) {
        while (atomic_load(&turn) != mine)
            sched_yield();
        atomic_store(&turn, !mine);
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

int main(void) {
    cpu_set_t set, first;
    sched_getaffinity(0, sizeof set, &set);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set))
        ++cpu;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    sched_setaffinity(0, sizeof first, &first); /* the other thread inherits it */
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; ++i) {
        pthread_t thread;
        const double begin = now_ns();
        if (pthread_create(&thread, NULL, other, NULL) != 0)
            return 1;
        pass_on(0);
        pthread_join(thread, NULL);
        samples[i] = (now_ns() - begin) / TRIPS;
    }
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    printf("%.0f\n", samples[SAMPLES / 2]);
    return 0;
}
