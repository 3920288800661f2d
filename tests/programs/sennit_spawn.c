/* SPDX-License-Identifier: Apache-2.0
 * test, tool:
 * sennit.h: spawned tasks run without any parallel region, may suspend, wait and bind events; the
 * completion callback comes after the body and its events, and may bind events of its own.
 * sennit_task_wait_ns frees the worker. */
#include "sennit_door.h"

enum { spawned = 200 };
static int bodies, completions;

static int read_now(int *counter) {
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void body(void *argument) {
    const int id = (int)(intptr_t)argument;
    uint64_t passed = 0;
    int kind = -1;
    CHECK_EQ(DOOR(sennit_task_get_kind)(door_self(), &kind), SENNIT_SUCCESS);
    CHECK_EQ(kind, SENNIT_TASK_EXPLICIT);
    if (id % 2 == 0) {
        CHECK_EQ(DOOR(sennit_task_wait_ns)(2000000, &passed), SENNIT_SUCCESS);
        CHECK(passed >= 2000000);
    }
    if (id % 5 == 0) {
        CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 1), SENNIT_SUCCESS);
        CHECK_EQ(DOOR(sennit_task_events_decrease)(door_self(), 1), SENNIT_SUCCESS);
    }
    __atomic_add_fetch(&bodies, 1, __ATOMIC_ACQ_REL);
}

static void done(void *argument) {
    CHECK(read_now(&bodies) > 0);
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_ACQ_REL);
}

static void spawn_and_wait(void) {
    bodies = completions = 0;
    for (intptr_t id = 0; id < spawned; ++id)
        CHECK_EQ(DOOR(sennit_task_spawn)(body, (void *)id, done, &completions, "test"),
                 SENNIT_SUCCESS);
    while (read_now(&completions) < spawned)
        DOOR(sennit_task_wait_ns)(100000, NULL);
    CHECK_EQ(read_now(&bodies), spawned);
}

static sennit_task *bound[spawned];

static void done_that_binds(void *argument) {
    CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 2), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_task_events_decrease)(door_self(), 1), SENNIT_SUCCESS);
    __atomic_store_n((sennit_task **)argument, door_self(), __ATOMIC_RELEASE);
    __atomic_add_fetch(&completions, 1, __ATOMIC_ACQ_REL);
}

/* A task whose callback has bound an event lives until that is fulfilled: the tasks that are
 * spawned meanwhile are others, and it does not complete twice. */
static void callbacks_bind(void) {
    bodies = completions = 0;
    for (intptr_t id = 0; id < spawned; ++id)
        CHECK_EQ(DOOR(sennit_task_spawn)(body, (void *)id, done_that_binds, &bound[id], "binds"),
                 SENNIT_SUCCESS);
    while (read_now(&completions) < spawned)
        DOOR(sennit_task_wait_ns)(100000, NULL);
    for (intptr_t id = 0; id < spawned; ++id)
        CHECK_EQ(DOOR(sennit_task_spawn)(body, (void *)id, done, &completions, "test"),
                 SENNIT_SUCCESS);
    for (int i = 0; i < spawned; ++i)
        CHECK_EQ(DOOR(sennit_task_events_decrease)(bound[i], 1), SENNIT_SUCCESS);
    while (read_now(&completions) < 2 * spawned)
        DOOR(sennit_task_wait_ns)(100000, NULL);
    DOOR(sennit_task_wait_ns)(5000000, NULL);
    CHECK_EQ(read_now(&completions), 2 * spawned);
    CHECK_EQ(read_now(&bodies), 2 * spawned);
}

int main(void) {
    CHECK_EQ(DOOR(sennit_task_spawn)(NULL, NULL, NULL, NULL, NULL), SENNIT_ERR_PARAMETER);
    spawn_and_wait(); /* before the first region */
    callbacks_bind();
#pragma omp parallel
#pragma omp single
    {
        spawn_and_wait();
        callbacks_bind();
    }
    spawn_and_wait(); /* after it */
    callbacks_bind();
    return 0;
}
