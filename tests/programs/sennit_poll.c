/* SPDX-License-Identifier: Apache-2.0
 * test:
 * sennit.h, polling services: called while operations are pending, also when every thread is
 * inside long user code (the ticker) and when all are idle; never by two threads at once, never
 * after unregister. One that waits for a lock keeps no other task of its thread from suspending.
 */
#include "sennit_door.h"
#include <pthread.h>
#include <stdbool.h>

static sennit_poll_service *service;
static int calls, inside;

static int count(void *argument) {
    CHECK(argument == NULL);
    CHECK_EQ(__atomic_exchange_n(&inside, 1, __ATOMIC_ACQ_REL), 0);
    /* A service is no task, whichever its thread ran last: that one may be gone. */
    CHECK_EQ(DOOR(sennit_notify)(SENNIT_NOTICE_SEND, 0, 0), SENNIT_ERR_OUTSIDE_TASK);
    __atomic_add_fetch(&calls, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
    return 0;
}

static int calls_now(void) {
    return __atomic_load_n(&calls, __ATOMIC_ACQUIRE);
}

static void wait_for_a_call(void) {
    const int before = calls_now();
    while (calls_now() == before)
        usleep(100);
}

static omp_lock_t lock;
static pthread_t thread;
static int waited;
static sennit_task *volatile holder, *volatile sleeper, *last; /* gcc: taskyield is a leaf */

/* Called between two tasks. The lock's holder is suspended until the sleeper resumes it. */
static int wait_for_lock(void *argument) {
    if (waited || !pthread_equal(pthread_self(), thread))
        return 0; /* by the ticker */
    waited = 1;
    CHECK_EQ(DOOR(sennit_task_resume)(sleeper), SENNIT_SUCCESS);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    return argument != NULL;
}

static void service_waits(void) {
    sennit_poll_service *waits;
    thread = pthread_self();
    omp_init_lock(&lock);
    CHECK_EQ(DOOR(sennit_poll_register)("waits", wait_for_lock, NULL, &waits), SENNIT_SUCCESS);
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        {
            holder = door_self();
            omp_set_lock(&lock);
            CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
            omp_unset_lock(&lock);
        }
#pragma omp task
        {
            sleeper = door_self();
            CHECK_EQ(DOOR(sennit_task_suspend)(sleeper), SENNIT_SUCCESS);
            CHECK(waited);
            CHECK(DOOR(sennit_should_suspend)());
            CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
            CHECK_EQ(DOOR(sennit_poll_pending)(waits, -1), SENNIT_SUCCESS);
            CHECK_EQ(DOOR(sennit_task_resume)(last), SENNIT_SUCCESS);
        }
#pragma omp task
        { /* the thread polls on the stack of the task that was suspended last */
            while (!holder || !sleeper) {
#pragma omp taskyield
            }
            last = door_self();
            CHECK_EQ(DOOR(sennit_poll_pending)(waits, 1), SENNIT_SUCCESS);
            CHECK_EQ(DOOR(sennit_task_suspend)(last), SENNIT_SUCCESS);
        }
    }
    CHECK_EQ(DOOR(sennit_poll_unregister)(waits), SENNIT_SUCCESS);
    omp_destroy_lock(&lock);
}

static int looks, made;
static _Thread_local bool in_team; /* not so the ticker */

/* Where no task runs, a service is called on behalf of its thread's implicit task. */
static int use_openmp(void *argument) {
    (void)argument;
    if (!in_team)
        return 0;
    CHECK(omp_get_thread_num() < omp_get_num_threads());
    CHECK(omp_get_max_threads() > 0);
    if (++looks == 1) {
#pragma omp task
        __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
    }
    return 0;
}

static void service_uses_openmp(void) {
    sennit_poll_service *uses;
    CHECK_EQ(DOOR(sennit_poll_register)("uses", use_openmp, NULL, &uses), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_pending)(uses, 1), SENNIT_SUCCESS);
#pragma omp parallel
    {
        in_team = true;
#pragma omp single
        for (int i = 0; i < 8; ++i) {
#pragma omp task
            while (!__atomic_load_n(&made, __ATOMIC_ACQUIRE))
                DOOR(sennit_task_wait_ns)(1000000, NULL);
        }
    }
    CHECK_EQ(DOOR(sennit_poll_pending)(uses, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_unregister)(uses), SENNIT_SUCCESS);
}

int main(void) {
    int completed = -1;
    CHECK_EQ(DOOR(sennit_poll_register)("count", count, NULL, &service), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll)(&completed), SENNIT_SUCCESS);
    CHECK_EQ(calls_now(), 0); /* nothing is pending */
    CHECK_EQ(DOOR(sennit_poll_pending)(service, 1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll)(&completed), SENNIT_SUCCESS);
    CHECK_EQ(completed, 0);
    wait_for_a_call();
#pragma omp parallel
    wait_for_a_call(); /* no scheduling point in here: the ticker polls */
#pragma omp parallel
    {
#pragma omp single
        wait_for_a_call(); /* the others are idle in the barrier */
    }
    CHECK_EQ(DOOR(sennit_poll_pending)(service, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_unregister)(service), SENNIT_SUCCESS);
    const int last = calls_now();
    usleep(5000);
    CHECK_EQ(calls_now(), last);
    service_waits();
    service_uses_openmp();
    return 0;
}
