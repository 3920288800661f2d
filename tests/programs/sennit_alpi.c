/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test:
 * alpi.h 1.2: every function, as a task-aware library finds and uses it (dlsym from global scope).
 */
#include "sennit_door.h"
#include <pthread.h>
#include <string.h>

static struct alpi_task *self(void) {
    struct alpi_task *task = NULL;
    CHECK_EQ(DOOR(alpi_task_self)(&task), ALPI_SUCCESS);
    return task;
}

static void versions_features_and_texts(void) {
    int major = 0, minor = 0, length = 0;
    char text[256], cut[4];
    CHECK_EQ(DOOR(alpi_version_get)(&major, &minor), ALPI_SUCCESS);
    CHECK_EQ(major, 1);
    CHECK(minor >= 2);
    CHECK_EQ(DOOR(alpi_version_check)(1, 0), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_version_check)(1, 2), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_version_check)(1, minor + 1), ALPI_ERR_VERSION);
    CHECK_EQ(DOOR(alpi_version_check)(2, 0), ALPI_ERR_VERSION);
    CHECK_EQ(DOOR(alpi_feature_check)(ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS |
                                      ALPI_FEATURE_RESOURCES | ALPI_FEATURE_SUSPEND),
             ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_feature_check)(1 << 20), ALPI_ERR_FEATURE_UNKNOWN);
    for (int error = 0; error < ALPI_ERR_MAX; ++error)
        CHECK(strlen(DOOR(alpi_error_string)((alpi_error_t)error)) > 0);
    CHECK(strlen(DOOR(alpi_error_string)((alpi_error_t)1234)) > 0);
    for (int info = 0; info <= ALPI_INFO_RUNTIME_FULL_VERSION; ++info) {
        CHECK_EQ(DOOR(alpi_info_get)((alpi_info_t)info, text, sizeof text, &length), ALPI_SUCCESS);
        CHECK_EQ(strlen(text), length);
        CHECK(length > 0);
        CHECK_EQ(DOOR(alpi_info_get)((alpi_info_t)info, cut, sizeof cut, NULL), ALPI_SUCCESS);
        CHECK(strncmp(cut, text, sizeof cut - 1) == 0 && strlen(cut) < sizeof cut);
    }
    CHECK_EQ(DOOR(alpi_info_get)((alpi_info_t)99, text, sizeof text, NULL), ALPI_ERR_PARAMETER);
}

static void *unblock(void *task) {
    usleep(1000);
    CHECK_EQ(DOOR(alpi_task_unblock)(task), ALPI_SUCCESS);
    return NULL;
}

static void block_unblock_and_wait(void) {
    pthread_t thread;
    uint64_t passed = 0;
    CHECK_EQ(pthread_create(&thread, NULL, unblock, self()), 0);
    CHECK_EQ(DOOR(alpi_task_block)(self()), ALPI_SUCCESS);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(DOOR(alpi_task_unblock)(self()), ALPI_SUCCESS); /* one pending token */
    CHECK_EQ(DOOR(alpi_task_block)(self()), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_task_waitfor_ns)(1000000, &passed), ALPI_SUCCESS);
    CHECK(passed >= 1000000);
    CHECK_EQ(DOOR(alpi_task_waitfor_ns)(1000, NULL), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_task_block)(NULL), ALPI_ERR_PARAMETER);
    CHECK_EQ(DOOR(alpi_task_unblock)(NULL), ALPI_ERR_PARAMETER);
    CHECK_EQ(DOOR(alpi_task_self)(NULL), ALPI_ERR_PARAMETER);
}

static void events(void) {
    int x = 0;
    struct alpi_task *producer = NULL;
#pragma omp task depend(out : x) shared(x, producer)
    {
        uint64_t pending = 9;
        CHECK_EQ(DOOR(alpi_task_events_test)(self(), &pending), ALPI_SUCCESS);
        CHECK_EQ(pending, 0);
        CHECK_EQ(DOOR(alpi_task_events_increase)(self(), 3), ALPI_SUCCESS);
        CHECK_EQ(DOOR(alpi_task_events_decrease)(self(), 2), ALPI_SUCCESS);
        CHECK_EQ(DOOR(alpi_task_events_test)(self(), &pending), ALPI_SUCCESS);
        CHECK(pending != 0);
        x = 1;
        __atomic_store_n(&producer, self(), __ATOMIC_RELEASE);
    }
#pragma omp task depend(in : x) shared(x)
    CHECK_EQ(x, 2);
    struct alpi_task *found;
    while (!(found = __atomic_load_n(&producer, __ATOMIC_ACQUIRE))) {
#pragma omp taskyield
    }
    x = 2;
    CHECK_EQ(DOOR(alpi_task_events_decrease)(found, 1), ALPI_SUCCESS);
#pragma omp taskwait
}

static void cpus(void) {
    uint64_t count = 0, logical = 99999, system = 99999;
    CHECK_EQ(DOOR(alpi_cpu_count)(&count), ALPI_SUCCESS);
    CHECK(count >= 1);
    CHECK_EQ(DOOR(alpi_cpu_logical_id)(&logical), ALPI_SUCCESS);
    CHECK(logical < count);
    CHECK_EQ(DOOR(alpi_cpu_system_id)(&system), ALPI_SUCCESS);
    CHECK(system < 4096);
    CHECK_EQ(DOOR(alpi_cpu_count)(NULL), ALPI_ERR_PARAMETER);
}

static void *fulfil(void *task) {
    usleep(1000);
    CHECK_EQ(DOOR(alpi_task_events_decrease)(task, 1), ALPI_SUCCESS);
    return NULL;
}

/* A body that suspends runs again: at once, after a time, when its event is fulfilled. */
static struct {
    int runs, done;
} again;

static void body_that_runs_again(void *argument) {
    (void)argument;
    pthread_t thread;
    const int run = __atomic_fetch_add(&again.runs, 1, __ATOMIC_ACQ_REL);
    switch (run) {
    case 0:
    case 1:
        CHECK_EQ(DOOR(alpi_task_suspend_mode_set)(self(), ALPI_SUSPEND_MODE_SUBMIT, (uint64_t)run),
                 ALPI_SUCCESS);
        break;
    case 2:
        CHECK_EQ(DOOR(alpi_task_suspend_mode_set)(self(), ALPI_SUSPEND_MODE_TIMEOUT_SUBMIT, 100000),
                 ALPI_SUCCESS);
        break;
    case 3:
        CHECK_EQ(DOOR(alpi_task_suspend_mode_set)(self(), ALPI_SUSPEND_MODE_EVENT_SUBMIT, 0),
                 ALPI_SUCCESS);
        CHECK_EQ(DOOR(alpi_task_events_increase)(self(), 1), ALPI_SUCCESS);
        CHECK_EQ(pthread_create(&thread, NULL, fulfil, self()), 0);
        CHECK_EQ(pthread_detach(thread), 0);
        break;
    default:
        return; /* without a suspend: complete */
    }
    CHECK_EQ(DOOR(alpi_task_suspend)(self()), ALPI_SUCCESS);
}

static void completed(void *argument) {
    CHECK(argument == &again);
    CHECK_EQ(__atomic_load_n(&again.runs, __ATOMIC_ACQUIRE), 5);
    __atomic_store_n(&again.done, 1, __ATOMIC_RELEASE);
}

static void spawn_and_suspend(void) {
    alpi_attr_t *attributes = NULL;
    uint64_t size = 0;
    CHECK_EQ(DOOR(alpi_attr_create)(&attributes), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_attr_init)(attributes), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_attr_size)(&size), ALPI_SUCCESS);
    CHECK(size > 0);
    again.runs = again.done = 0;
    CHECK_EQ(
        DOOR(alpi_task_spawn)(body_that_runs_again, NULL, completed, &again, "again", attributes),
        ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_task_spawn)(NULL, NULL, NULL, NULL, NULL, NULL), ALPI_ERR_PARAMETER);
    CHECK_EQ(DOOR(alpi_attr_destroy)(attributes), ALPI_SUCCESS);
    while (!__atomic_load_n(&again.done, __ATOMIC_ACQUIRE))
        DOOR(alpi_task_waitfor_ns)(100000, NULL);
}

/* Bodies that ask to run again at once take turns: one that polls keeps nobody from running. */
static struct {
    int spawned, runs[2], done;
} turns;

static void body_that_polls(void *argument) {
    const int me = argument == &turns.runs[1];
    const int mine = __atomic_add_fetch(&turns.runs[me], 1, __ATOMIC_ACQ_REL);
    if (!__atomic_load_n(&turns.spawned, __ATOMIC_ACQUIRE))
        __atomic_store_n(&turns.runs[me], 0, __ATOMIC_RELEASE);
    else if (__atomic_load_n(&turns.runs[!me], __ATOMIC_ACQUIRE) >= 100)
        return;
    else
        CHECK(mine < 1000000);
    CHECK_EQ(DOOR(alpi_task_suspend_mode_set)(self(), ALPI_SUSPEND_MODE_SUBMIT, 0), ALPI_SUCCESS);
    CHECK_EQ(DOOR(alpi_task_suspend)(self()), ALPI_SUCCESS);
}

static void polled(void *argument) {
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_ACQ_REL);
}

static void take_turns(void) {
    for (int i = 0; i < 2; i++)
        CHECK_EQ(DOOR(alpi_task_spawn)(body_that_polls, &turns.runs[i], polled, &turns.done,
                                       "polls", NULL),
                 ALPI_SUCCESS);
    __atomic_store_n(&turns.spawned, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&turns.done, __ATOMIC_ACQUIRE) < 2)
        DOOR(alpi_task_waitfor_ns)(100000, NULL);
}

static void *outside(void *argument) {
    struct alpi_task *task = NULL;
    CHECK_EQ(DOOR(alpi_task_self)(&task), ALPI_ERR_OUTSIDE_TASK);
    return argument;
}

int main(void) {
    pthread_t thread;
    versions_features_and_texts();
    spawn_and_suspend(); /* before any region, as from MPI_Init_thread */
    take_turns();
    block_unblock_and_wait();
    cpus();
    CHECK_EQ(pthread_create(&thread, NULL, outside, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
#pragma omp parallel
    {
        block_unblock_and_wait();
        cpus();
#pragma omp single
        {
            for (int i = 0; i < 20; ++i) {
#pragma omp task
                block_unblock_and_wait();
            }
#pragma omp taskwait
            events();
            spawn_and_suspend();
        }
    }
    return 0;
}
