/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -ldl
 * test: threads=1 OMP_STACKSIZE=8M
 * A polling service is called on the stack of a task that waits, for there is no other one, and
 * waits for a lock itself. What both wait for comes at once: each wait ends once.
 * (OMP_STACKSIZE=8M: see stacks_refused.c)
 */
#include "limited_memory.h"
#include "sennit_door.h"

#include <pthread.h>

static omp_lock_t lock;
static sennit_task *volatile holder; /* gcc: taskyield is a leaf */
static pthread_t thread;
static int waited;

static int wait_for_lock(void *argument) {
    (void)argument;
    if (waited || !pthread_equal(pthread_self(), thread))
        return 0; /* by the ticker */
    waited = 1;
    CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    return 0;
}

static void hold(void) {
    omp_set_lock(&lock);
    limit_addresses(4 << 20);
    holder = door_self();
    CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
    omp_unset_lock(&lock);
}

/* A wait for nothing but the time. */
static void rest(void) {
    const double begin = omp_get_wtime();
    CHECK_EQ(DOOR(sennit_task_wait_ns)(5000000, NULL), SENNIT_SUCCESS);
    CHECK(omp_get_wtime() - begin >= 0.004);
}

int main(void) {
    sennit_poll_service *service;
    thread = pthread_self();
    omp_init_lock(&lock);
    CHECK_EQ(DOOR(sennit_poll_register)("waits", wait_for_lock, NULL, &service), SENNIT_SUCCESS);
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        hold();
#pragma omp taskyield
        CHECK_EQ(DOOR(sennit_poll_pending)(service, 1), SENNIT_SUCCESS);
#pragma omp taskwait
        CHECK(waited);
        CHECK_EQ(DOOR(sennit_poll_pending)(service, -1), SENNIT_SUCCESS);
#pragma omp task
        rest();
#pragma omp taskwait
    }
    CHECK_EQ(DOOR(sennit_poll_unregister)(service), SENNIT_SUCCESS);
    omp_destroy_lock(&lock);
    return 0;
}
