/* SPDX-License-Identifier: Apache-2.0
 *
 * trace-tasks TASKS STEPS - a stream of dependent tasks of STEPS multiplications each, for
 * trace_overhead.py. Prints the wall time and the processor time that it took, in seconds.
 */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHAINS = 64 };

static uint64_t values[CHAINS];

static uint64_t work(uint64_t value, long steps) {
    for (long i = 0; i < steps; ++i)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    bench_check(argc == 3, "usage: trace-tasks TASKS STEPS");
    const long tasks = atol(argv[1]), steps = atol(argv[2]);
    double wall = 0, cpu = 0;
#pragma omp parallel
#pragma omp single
    {
        wall = seconds(CLOCK_MONOTONIC);
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (long i = 0; i < tasks; ++i) {
            uint64_t *const mine = &values[i % CHAINS];
            const uint64_t *const other = &values[(i + 1) % CHAINS];
            (void)other; /* GCC counts no use in a clause */
#pragma omp task depend(inout : mine[0]) depend(in : other[0]) firstprivate(mine, steps)
            *mine = work(*mine, steps);
        }
#pragma omp taskwait
        wall = seconds(CLOCK_MONOTONIC) - wall;
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    }
    uint64_t expected = work(0, steps * ((tasks + CHAINS - 1) / CHAINS));
    bench_check(tasks < 1 || values[0] == expected, "the values");
    printf("%.9f %.9f\n", wall, cpu);
    return 0;
}
