/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -lpthread -ldl
 * test: # only Sennit has a thread for timers
 * The system has no thread for timers: whoever idles, or looks between tasks, fires them. Those
 * that began before the refusal, those that begin later, and a forked child's, which has the
 * thread, or is refused it, too.
 */
#define _GNU_SOURCE
#include "sennit_door.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

enum { sleepers = 20 };
static int refuses, refused;

/* The runtime's calls come here, too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                   void *argument) {
    if (refuses) {
        ++refused;
        return EAGAIN;
    }
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, main, argument);
}

static void rest(int us) {
    uint64_t ns = 0;
    CHECK_EQ(DOOR(sennit_task_wait_ns)((uint64_t)us * 1000, &ns), SENNIT_SUCCESS);
    CHECK(ns >= (uint64_t)us * 1000);
}

static void rest_all(void) {
    int done = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < sleepers; ++i) {
#pragma omp task shared(done)
        {
            rest(i % 3 * 1000);
#pragma omp atomic
            ++done;
        }
    }
    CHECK_EQ(done, sleepers);
}

/* Nobody idles until the other task has rested. */
static void rest_beside_work(void) {
    int rested = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(rested)
        {
            rest(1000);
            __atomic_store_n(&rested, 1, __ATOMIC_RELEASE);
        }
        while (!__atomic_load_n(&rested, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
        }
    }
}

static void rest_in_child(int refused_there) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(20);
        refused = 0;
        refuses = refused_there;
        rest(1000);
        rest_all();
        CHECK_EQ(refused > 0, refused_there);
        _exit(0);
    }
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

int main(void) {
    int warm = 0;
#pragma omp parallel reduction(+ : warm)
    warm += 1;
    CHECK_EQ(warm, check_threads());
    alarm(20);
    refuses = 1;
    rest_all();
    rest(1000);
    rest_beside_work();
    CHECK_EQ(refused, 1); /* the one thread that it asks for; the test is about nothing otherwise */
    rest_in_child(0);
    rest_in_child(1);
    rest_all();
    return 0;
}
