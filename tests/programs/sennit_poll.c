/* SPDX-License-Identifier: Apache-2.0
 * sennit.h, polling services: called while operations are pending, also when every thread is
 * inside long user code (the ticker) and when all are idle; never by two threads at once, never
 * after unregister.
 */
#include "sennit_door.h"

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
    return 0;
}
