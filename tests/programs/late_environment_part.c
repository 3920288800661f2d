/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -shared
 * What late_environment_main.c opens: what a library that uses OpenMP sees of the environment.
 */
#include <omp.h>
#include <stdio.h>

void see(char *text, int size);

void see(char *text, int size) {
    omp_sched_t kind = omp_sched_auto;
    int chunk = -1, threads = 0;
    omp_get_schedule(&kind, &chunk);
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    snprintf(text, (size_t)size, "%d threads, %d in a region, schedule %d", omp_get_max_threads(),
             threads, (int)kind);
}
