/* SPDX-License-Identifier: Apache-2.0
 * Threads of the program's own making are initial threads too: their teams are bound like others.
 * Run with OMP_PLACES=threads OMP_PROC_BIND=close.
 */
#define _GNU_SOURCE
#include "affinity.h"

#include <pthread.h>

static void *region(void *argument) {
    (void)argument;
    const int places = omp_get_num_places();
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
    for (int i = 0; i < 4; ++i)
        CHECK_EQ(pthread_create(&threads[i], NULL, region, NULL), 0);
    region(NULL);
    for (int i = 0; i < 4; ++i)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    return 0;
}
