/* SPDX-License-Identifier: Apache-2.0
 * test, tool:
 * One producer creates 1,000,000 tasks, then 100,000 that depend on each other in chains: all of
 * them run, none is lost, and memory does not grow without bounds with the number of tasks.
 */
#include "check.h"

int main(void) {
    enum { tasks = 1000000, dependent = 100000, chains = 64 };
    long total = 0, per_thread[256] = {0};
    int chain[chains] = {0};
#pragma omp parallel
#pragma omp single
    {
        for (int t = 0; t < tasks; ++t) {
#pragma omp task shared(per_thread)
            per_thread[omp_get_thread_num()] += 1;
        }
        for (int t = 0; t < dependent; ++t) {
#pragma omp task depend(inout : chain[t % chains]) shared(chain) firstprivate(t)
            CHECK_EQ(chain[t % chains]++, t / chains);
        }
    }
    for (int thread = 0; thread < 256; ++thread)
        total += per_thread[thread];
    CHECK_EQ(total, tasks);
    return 0;
}
