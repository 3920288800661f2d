/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" -- -lpthread # TSan's own versions of libc's waits block the thread
 * test:
 * The program's first thread leaves suspended tasks outside of regions. They go on while it joins a
 * thread, and are done before the program ends: other runtimes do them when they are created.
 */
#include "sennit_door.h"
#include <pthread.h>

static sennit_task *volatile sleeper;
static volatile int done, token;

static void make_sleeper(void) {
    sleeper = NULL;
    done = 0;
#pragma omp task
    {
        sleeper = door_self();
        DOOR(sennit_task_suspend)(sleeper);
        done = 1;
    }
    CHECK(sleeper != NULL);
    CHECK_EQ(done, 0);
}

/* Ends when the task has. */
static void *resumes(void *unused) {
    CHECK_EQ(DOOR(sennit_task_resume)(sleeper), SENNIT_SUCCESS);
    while (!done)
        usleep(100);
    return unused;
}

static void *resumes_late(void *unused) {
    usleep(20000);
    DOOR(sennit_task_resume)(sleeper);
    return unused;
}

static void is_done(void) {
    if (!done)
        _exit(3);
}

int main(void) {
    pthread_t thread;
    void *result = NULL;
    CHECK_EQ(atexit(is_done), 0); /* before OpenMP is used: called after what it does */
    make_sleeper();
    CHECK_EQ(pthread_create(&thread, NULL, resumes, (void *)&token), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == (void *)&token);
    make_sleeper();
    CHECK_EQ(pthread_create(&thread, NULL, resumes_late, NULL), 0);
    CHECK_EQ(pthread_detach(thread), 0);
    return 0;
}
