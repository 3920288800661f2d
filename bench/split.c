/* SPDX-License-Identifier: Apache-2.0
 *
 * split.c - what SENNIT_SPLIT gains and costs: regions of one static loop.
 *
 * split triangular|balanced|empty|bare|inner|sleeping ITERATIONS REGIONS prints "imbalance=PERCENT
 * threads=N checksum=X": the processor time of the busiest kernel thread in the loops, against the
 * mean. empty: the loop does nothing, to count the instructions of a region; bare: there is no
 * loop, to count the runtime's alone; inner: the same in a region of two threads, of which the
 * other one is blocked in a call of the system, and with iterations a loop in a task of its own;
 * sleeping: a region in a task, whose iterations sleep for 10 ms. The checksum depends on the
 * number of threads alone: partial sums are added by thread number.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 1024, MOST_THREADS = 65536 };

static struct worker {
    long id;
    double seconds;
} g_workers[MOST_WORKERS];
static int g_count;
static double g_partial[MOST_THREADS];

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void count(double seconds) {
    const long me = syscall(SYS_gettid);
#pragma omp critical
    {
        int at = 0;
        while (at < g_count && g_workers[at].id != me)
            ++at;
        if (at == g_count && g_count < MOST_WORKERS)
            g_workers[g_count++].id = me;
        g_workers[at].seconds += seconds;
    }
}

static double triangular(long iterations) {
#pragma omp parallel
    {
        const double begin = processor_seconds();
        double sum = 0;
#pragma omp for schedule(static) nowait
        for (long i = 0; i < iterations; ++i) {
            for (long k = 0; k < i; ++k)
                sum += 1.0 / (double)(1 + k + i);
        }
        g_partial[omp_get_thread_num() % MOST_THREADS] = sum;
        count(processor_seconds() - begin);
    }
    double total = 0;
    for (int i = 0; i < omp_get_max_threads() && i < MOST_THREADS; ++i)
        total += g_partial[i];
    return total;
}

/* As a program has it: nothing else is counted or timed in the region. */
static double balanced(long iterations) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < iterations; ++i) {
        double sum = 0;
        for (long k = 0; k < iterations / 2; ++k)
            sum += 1.0 / (double)(1 + k + i);
        g_partial[i % MOST_THREADS] = sum;
    }
    return g_partial[iterations / 2 % MOST_THREADS];
}

static void empty(long iterations) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < iterations; ++i)
        __asm__ volatile("");
}

static void bare(void) {
#pragma omp parallel
    __asm__ volatile("");
}

static void sleeping(long iterations) {
    const struct timespec nap = {0, 10000000};
#pragma omp parallel
#pragma omp single
#pragma omp task
#pragma omp parallel for schedule(static)
    for (long i = 0; i < iterations; ++i)
        nanosleep(&nap, NULL);
}

/* A loop in a task of its own. */
static void in_task(long iterations) {
#pragma omp task
#pragma omp parallel for schedule(static)
    for (long i = 0; i < iterations; ++i)
        g_partial[i % MOST_THREADS] = 1.0 / (double)(1 + i);
}

/* Of no iterations: bare. */
static void inner(long iterations, long regions) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        abort();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        if (read(ends[0], &byte, 1) != 1)
            abort();
    } else {
        for (long i = 0; i < regions; ++i)
            if (iterations > 0)
                in_task(iterations);
            else
                bare();
#pragma omp taskwait
        if (write(ends[1], &byte, 1) != 1)
            abort();
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr,
                "usage: %s triangular|balanced|empty|bare|inner|sleeping ITERATIONS REGIONS\n",
                argv[0]);
        return 2;
    }
    const long iterations = atol(argv[2]);
    const long regions = atol(argv[3]);
    double checksum = 0;
    const int is_inner = strcmp(argv[1], "inner") == 0;
    if (is_inner)
        inner(iterations, regions);
    for (long i = 0; i < regions && !is_inner; ++i)
        if (strcmp(argv[1], "empty") == 0)
            empty(iterations);
        else if (strcmp(argv[1], "bare") == 0)
            bare();
        else if (strcmp(argv[1], "sleeping") == 0)
            sleeping(iterations);
        else if (strcmp(argv[1], "balanced") == 0)
            checksum += balanced(iterations);
        else
            checksum += triangular(iterations);
    double most = 0;
    double all = 0;
    for (int i = 0; i < g_count; ++i) {
        all += g_workers[i].seconds;
        if (g_workers[i].seconds > most)
            most = g_workers[i].seconds;
    }
    printf("imbalance=%.2f threads=%d checksum=%.17g\n",
           all > 0 ? 100 * (most * g_count / all - 1) : 0.0, omp_get_max_threads(), checksum);
    return 0;
}
