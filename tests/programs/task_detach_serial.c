/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test:
 * OpenMP 5.2, 12.5.2 (detach): a detachable task in a team of one, or outside of any region, whose
 * event another thread fulfils later; the regions that follow are not disturbed.
 */
#include "check.h"
#include <pthread.h>

static int flag;

static void *fulfil(void *event) {
    usleep(1000);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
    return NULL;
}

static void detach_and_wait(void) {
    omp_event_handle_t event = (omp_event_handle_t)0;
    pthread_t thread;
    flag = 0;
#pragma omp task detach(event) shared(thread)
    CHECK_EQ(pthread_create(&thread, NULL, fulfil, (void *)(uintptr_t)event), 0);
#pragma omp taskwait
    CHECK(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    pthread_join(thread, NULL);
}

int main(void) {
    for (int round = 0; round < 3; ++round) {
        int members = 0;
        detach_and_wait();
#pragma omp parallel num_threads(1)
        detach_and_wait();
#pragma omp parallel num_threads(3) reduction(+ : members)
        members += 1;
        CHECK_EQ(members, 3);
    }
    return 0;
}
