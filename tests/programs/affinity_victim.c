/* SPDX-License-Identifier: Apache-2.0
 * build:
 * For affinity_environment.py: a line for each thread of two equal regions and a different one,
 * and one for the initial thread before, between and after them.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static void show(const char *who, int number) {
    char line[8192]; /* written at once: the runtime may write lines too */
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int used = number < 0 ? sprintf(line, "%s cpus", who)
                          : sprintf(line, "%s %d place %d cpus", who, number, omp_get_place_num());
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set))
            used += sprintf(line + used, " %d", cpu);
    puts(line);
}

static void region(int threads) {
    show("thread outside", -1);
#pragma omp parallel num_threads(threads)
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
#pragma omp ordered
        show("thread", i);
    }
}

int main(void) {
    omp_set_dynamic(0);
    region(2);
    region(2);
    region(3);
    show("thread outside", -1);
    return 0;
}
