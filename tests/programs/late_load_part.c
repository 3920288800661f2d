/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -shared
 * What late_load_main.c opens: a library that uses OpenMP, also when it is loaded and unloaded.
 */
#include "check.h"

#include <sched.h>

int late_compute(int threads);

int late_compute(int threads) {
    int sum = 0, chain = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; ++i)
            sum += i;
#pragma omp single
        for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            {
#pragma omp taskyield
                chain += 1;
            }
        }
    }
    return sum + chain;
}

/* While the calling thread has the loader's lock, another one, which sleeps already, runs the first
 * task of the process that gets a stack of its own. */
static void leave_a_task_to_another_thread(void) {
    int ran = 0;
#pragma omp parallel num_threads(2) shared(ran)
#pragma omp master
    {
        for (const double end = omp_get_wtime() + 0.02; omp_get_wtime() < end;)
            sched_yield();
#pragma omp task shared(ran)
        __atomic_store_n(&ran, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&ran, __ATOMIC_ACQUIRE))
            sched_yield();
    }
}

__attribute__((constructor)) static void loaded(void) {
    leave_a_task_to_another_thread();
    CHECK_EQ(late_compute(2), 4970);
}

__attribute__((destructor)) static void unloaded(void) {
    CHECK_EQ(late_compute(2), 4970);
}
