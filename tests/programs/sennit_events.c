/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test, tool:
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

/* An event for the running task, which `thread` fulfils. */
static void bind_event(pthread_t *thread) {
    CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 2), SENNIT_SUCCESS);
    CHECK_EQ(pthread_create(thread, NULL, fulfil, door_self()), 0);
}

static void expect_fulfilled(int expected) {
    CHECK_EQ(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE), expected);
}

/* Each holds those behind it and its creator until the events that it has bound are fulfilled. */
static void undeferred_tasks_hold_their_dependences(void) {
    int x = 0, y = 0;
    pthread_t threads[3];
    fulfilled = 0;
#pragma omp task depend(out : y) shared(y)
    y = 1;
#pragma omp task if (0) depend(out : x) depend(in : y) shared(x, y, threads)
    {
        CHECK_EQ(y, 1);
        bind_event(&threads[0]);
        x = 1;
    }
#pragma omp task depend(in : x) shared(x)
    expect_fulfilled(1);
#pragma omp task if (0) depend(inout : x) shared(x, threads)
    {
        expect_fulfilled(1);
        bind_event(&threads[1]);
    }
#pragma omp task if (0) depend(mutexinoutset : x) shared(x, threads)
    {
        expect_fulfilled(2);
        bind_event(&threads[2]);
    }
#pragma omp task if (0) depend(mutexinoutset : x) shared(x)
    expect_fulfilled(3);
#pragma omp taskwait
    for (int i = 0; i < 3; ++i)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* A task that waits for nothing is none of those that the taskwait before it stands among. */
static void a_taskwait_is_not_the_next_task(void) {
    int x = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp taskwait depend(in : x)
    CHECK_EQ(x, 1);
#pragma omp task if (0) detach(event) shared(x)
    CHECK_EQ(x, 1);
#pragma omp task depend(out : x) shared(x) firstprivate(event)
    {
        x = 2;
        omp_fulfill_event(event);
    }
#pragma omp taskwait
    CHECK_EQ(x, 2);
}

static pthread_t waited[8];
static int bound;

/* Another thread fulfils the event of the running task a moment later. */
static void bind_next(void) {
    bind_event(&waited[bound++]);
}

/* All that was bound is fulfilled where the creator goes on. */
static void expect_all(int expected) {
    CHECK_EQ(bound, expected);
    expect_fulfilled(expected);
    while (bound > 0)
        CHECK_EQ(pthread_join(waited[--bound], NULL), 0);
    fulfilled = 0;
}

static void tasks_with_if(void) {
    int x = 0;
#pragma omp task if (0)
    bind_next();
    expect_all(1);
#pragma omp task if (0) mergeable untied
    bind_next();
    expect_all(1);
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task if (0) depend(inout : x) shared(x)
    {
        CHECK_EQ(x, 1);
        bind_next();
    }
    expect_all(1);
#pragma omp taskloop if (0) grainsize(1)
    for (int i = 0; i < 3; ++i) {
        expect_fulfilled(i);
        bind_next();
    }
    expect_all(3);
#pragma omp taskloop if (0) nogroup num_tasks(2)
    for (int i = 0; i < 2; ++i)
        bind_next();
    expect_all(2);
}

/* Of a final task all descendants are included tasks. */
static void included(void) {
    int x = 0;
#pragma omp task final(1) shared(x)
    {
#pragma omp task
        bind_next();
        expect_all(1);
#pragma omp task mergeable
        bind_next();
        expect_all(1);
#pragma omp task depend(out : x) untied priority(1) shared(x)
        {
#pragma omp task
            bind_next();
            expect_fulfilled(1);
            bind_next();
            x = 1;
        }
        CHECK_EQ(x, 1);
        expect_all(2);
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 3; ++i) {
            expect_fulfilled(i);
            bind_next();
        }
        expect_all(3);
#pragma omp taskgroup
        {
#pragma omp task
            bind_next();
            expect_all(1);
        }
    }
#pragma omp taskwait
}

/* Children that are no included tasks may outlive it. */
static void children_of_an_undeferred_task(void) {
    int children = 0;
#pragma omp task if (0) shared(children)
    {
        for (int i = 0; i < 3; ++i) {
#pragma omp task shared(children) depend(out : children)
            children += 1;
        }
        bind_next();
    }
    expect_all(1);
#pragma omp taskgroup
    {
#pragma omp task shared(children) depend(out : children)
        children += 1;
    }
#pragma omp taskwait
}

/* Tasks of a taskloop are the creator's children, whoever calls them. */
static void tasks_of_a_taskloop(void) {
#pragma omp taskloop nogroup num_tasks(3)
    for (int i = 0; i < 3; ++i)
        bind_event(&waited[i]);
#pragma omp taskwait
    bound = 3;
    expect_all(3);
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 4; ++i)
        bind_event(&waited[i]);
    bound = 4;
    expect_all(4);
}

/* The event of detach is the program's: its creator goes on, and may fulfil it. */
static void with_detach(void) {
    for (int early = 0; early < 2; ++early) {
        omp_event_handle_t event = (omp_event_handle_t)0;
        int x = 0;
#pragma omp task if (0) detach(event) depend(out : x) shared(x) firstprivate(early)
        {
            bind_next();
            if (early)
                omp_fulfill_event(event);
            x = 1;
        }
        expect_all(1);
#pragma omp task depend(in : x) shared(x) firstprivate(early)
        CHECK_EQ(x, early ? 1 : 2);
        if (!early) {
            x = 2;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
    }
}

static void creators_are_held(void) {
    fulfilled = 0;
    tasks_with_if();
    included();
    children_of_an_undeferred_task();
    tasks_of_a_taskloop();
    with_detach();
}

static void undeferred(void) {
    creators_are_held();
    undeferred_tasks_hold_their_dependences();
    a_taskwait_is_not_the_next_task();
    undeferred_tasks_hold_their_dependences();
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
#pragma omp parallel
#pragma omp single
        undeferred();
        undeferred();
    }
    CHECK_EQ(DOOR(sennit_poll_unregister)(operation.service), SENNIT_SUCCESS);
    return 0;
}
