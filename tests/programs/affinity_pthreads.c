/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test: OMP_PLACES=threads OMP_PROC_BIND=close # stock libomp deals places out to initial threads
 * Threads of the program's own making are initial threads too: their teams are bound like others.
 * Run with OMP_PLACES=threads OMP_PROC_BIND=close.
 */
#define _GNU_SOURCE
#include "affinity.h"

#include <pthread.h>

/* A new thread runs where its maker is bound; let it run everywhere. */
static void set_free(void) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int place = 0; place < omp_get_num_places(); ++place) {
        int cpu;
        omp_get_place_proc_ids(place, &cpu);
        CPU_SET((size_t)cpu, &all);
    }
    CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

static void *region(void *is_new) {
    const int places = omp_get_num_places();
    if (is_new)
        set_free();
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(2)
        {
            CHECK_EQ(omp_get_place_num(), omp_get_thread_num() % places);
            check_bound_to(omp_get_place_num());
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    omp_set_dynamic(0);
    for (int round = 0; round < 3; ++round) { /* new threads, and teams that were used before */
        for (int i = 0; i < 4; ++i)
            CHECK_EQ(pthread_create(&threads[i], NULL, region, threads), 0);
        region(NULL);
        for (int i = 0; i < 4; ++i)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    return 0;
}
