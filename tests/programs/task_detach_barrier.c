/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test: # stock libgomp misses the wake-up
 * OpenMP 5.2, 15.3.1 (barrier) with 12.5.2 (detach): a barrier, and the end of a region, wait for a
 * detached task whose event a thread that OpenMP does not know fulfils while all threads wait.
 */
#include "check.h"
#include <pthread.h>

static int flag;

static void *fulfil(void *event) {
    usleep(2000);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
    return NULL;
}

static void start(omp_event_handle_t event) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fulfil, (void *)(uintptr_t)event), 0);
    CHECK_EQ(pthread_detach(thread), 0);
}

int main(void) {
    for (int round = 0; round < 5; ++round) {
        flag = 0;
#pragma omp parallel
        {
            omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp single
            {
#pragma omp task detach(event)
                start(event);
            }
            CHECK(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
        }
        flag = 0;
#pragma omp parallel
        {
            omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp masked
            {
#pragma omp task detach(event)
                start(event);
            }
        }
        CHECK(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    }
    return 0;
}
