/* SPDX-License-Identifier: Apache-2.0
 * sennit.h, events: a task's dependences are released when its body has ended and its events are
 * fulfilled, from inside the body, by another task, by a polling service or a foreign thread.
 */
#include "sennit_door.h"
#include <pthread.h>

static int fulfilled;

static void *fulfil(void *task) {
    usleep(1000);
    __atomic_add_fetch(&fulfilled, 1, __ATOMIC_ACQ_REL);
    CHECK_EQ(DOOR(sennit_task_events_decrease)(task, 2), SENNIT_SUCCESS);
    return NULL;
}

/* An operation of a small asynchronous library: complete at the third poll. */
static struct {
    sennit_poll_service *service;
    sennit_task *task;
    int polls;
} operation;

static int poll(void *argument) {
    CHECK(argument == &operation);
    CHECK(!DOOR(sennit_should_suspend)());
    if (!operation.task || ++operation.polls < 3)
        return 0;
    sennit_task *task = operation.task;
    operation.task = NULL;
    __atomic_add_fetch(&fulfilled, 1, __ATOMIC_ACQ_REL);
    CHECK_EQ(DOOR(sennit_poll_pending)(operation.service, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_task_events_decrease)(task, 1), SENNIT_SUCCESS);
    return 1;
}

static void successors_wait_for_events(void) {
    int x = 0;
    pthread_t thread;
    fulfilled = 0;
#pragma omp task depend(out : x) shared(x, thread)
    {
        CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 2), SENNIT_SUCCESS);
        CHECK_EQ(pthread_create(&thread, NULL, fulfil, door_self()), 0);
        x = 1;
    }
#pragma omp task depend(inout : x) shared(x)
    {
        CHECK_EQ(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE), 1);
        CHECK_EQ(x, 1);
        CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 1), SENNIT_SUCCESS);
        operation.polls = 0;
        operation.task = door_self();
        CHECK_EQ(DOOR(sennit_poll_pending)(operation.service, 1), SENNIT_SUCCESS);
    }
#pragma omp task depend(in : x) shared(x)
    {
        CHECK_EQ(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE), 2);
        CHECK_EQ(operation.polls, 3);
        /* fulfilled before the end of the body: completes with the body */
        CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 3), SENNIT_SUCCESS);
        CHECK_EQ(DOOR(sennit_task_events_decrease)(door_self(), 3), SENNIT_SUCCESS);
        x = 2;
    }
#pragma omp taskwait
    CHECK_EQ(x, 2);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
    CHECK_EQ(DOOR(sennit_poll_register)("test", poll, &operation, &operation.service),
             SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_register)("test", NULL, NULL, &operation.service),
             SENNIT_ERR_PARAMETER);
    for (int round = 0; round < 5; ++round) {
#pragma omp parallel
#pragma omp single
        successors_wait_for_events();
        successors_wait_for_events();
    }
    CHECK_EQ(DOOR(sennit_poll_unregister)(operation.service), SENNIT_SUCCESS);
    return 0;
}
