/* SPDX-License-Identifier: Apache-2.0
 * For affinity_environment.py: a line for each thread of two equal regions and a different one.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static void region(int threads) {
#pragma omp parallel num_threads(threads)
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
#pragma omp ordered
        {
            char line[8192]; /* written at once: the runtime may write lines too */
            cpu_set_t set;
            sched_getaffinity(0, sizeof set, &set);
            int used = sprintf(line, "thread %d place %d cpus", i, omp_get_place_num());
            for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
                if (CPU_ISSET(cpu, &set))
                    used += sprintf(line + used, " %d", cpu);
            puts(line);
        }
    }
}

int main(void) {
    omp_set_dynamic(0);
    region(2);
    region(2);
    region(3);
    return 0;
}
