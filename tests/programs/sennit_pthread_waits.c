/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" -- -lpthread # as sennit_outside_ends.c
 * test:
 * docs/user/openmp.md, "Locks of the operating system": tasks of one thread, one of them suspended,
 * wait for each other by condition variables, semaphores, barriers and pthread_once, and for a
 * thread that runs no tasks. Wake-ups by a signal handler count, and time limits hold.
 */
#define _GNU_SOURCE
#include "sennit_door.h"
#include "soon.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

/* volatile: gcc thinks that taskyield changes no static variable */
static sennit_task *volatile suspended;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static volatile int items, waiting, done;

/* A task that is suspended, so that the thread must not block; then it does `what`. */
static void suspended_first(void (*what)(void)) {
    suspended = NULL;
#pragma omp task
    {
        suspended = door_self();
        CHECK_EQ(DOOR(sennit_task_suspend)(suspended), SENNIT_SUCCESS);
        what();
    }
    while (!suspended) {
#pragma omp taskyield
    }
}

static void resume_it(void) {
    CHECK_EQ(DOOR(sennit_task_resume)(suspended), SENNIT_SUCCESS);
}

static void produce(void) {
    for (int i = 0; i < 5; ++i) {
        CHECK_EQ(pthread_mutex_lock(&mutex), 0);
        ++items;
        CHECK_EQ(pthread_cond_signal(&cond), 0);
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
#pragma omp taskyield
    }
}

static void condition_variable(void) {
    items = done = 0;
    suspended_first(produce);
    for (int i = 0; i < 5; ++i) {
#pragma omp task
        {
            CHECK_EQ(pthread_mutex_lock(&mutex), 0);
            ++waiting;
            while (items == 0)
                CHECK_EQ(pthread_cond_wait(&cond, &mutex), 0);
            --items;
            ++done;
            CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        }
    }
#pragma omp task
    resume_it();
#pragma omp taskwait
    CHECK_EQ(done, 5);
}

static void tell_all(void) {
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    items = 1;
    CHECK_EQ(pthread_cond_broadcast(&cond), 0);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}

static void broadcast(void) {
    items = done = 0;
    suspended_first(tell_all);
    for (int i = 0; i < 5; ++i) {
#pragma omp task
        {
            CHECK_EQ(pthread_mutex_lock(&mutex), 0);
            while (!items)
                CHECK_EQ(pthread_cond_wait(&cond, &mutex), 0);
            ++done;
            CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        }
    }
#pragma omp task
    resume_it();
#pragma omp taskwait
    CHECK_EQ(done, 5);
}

static void nothing(void) {}

/* Who waits until some time gives up then, and has the mutex. */
static void time_limits(void) {
    suspended_first(nothing);
#pragma omp task
    {
        CHECK_EQ(pthread_mutex_lock(&mutex), 0);
        struct timespec time = soon(CLOCK_REALTIME);
        CHECK_EQ(pthread_cond_timedwait(&cond, &mutex, &time), ETIMEDOUT);
        time = soon(CLOCK_MONOTONIC);
        CHECK_EQ(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &time), ETIMEDOUT);
        CHECK_EQ(pthread_mutex_trylock(&mutex), EBUSY);
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        pthread_condattr_t attributes;
        pthread_cond_t monotonic;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&monotonic, &attributes);
        CHECK_EQ(pthread_mutex_lock(&mutex), 0);
        time = soon(CLOCK_MONOTONIC);
        CHECK_EQ(pthread_cond_timedwait(&monotonic, &mutex, &time), ETIMEDOUT);
        time.tv_nsec = -1;
        CHECK_EQ(pthread_cond_timedwait(&monotonic, &mutex, &time), EINVAL);
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        pthread_cond_destroy(&monotonic);
        time = soon(CLOCK_REALTIME);
        CHECK(sem_timedwait(&semaphore, &time) == -1 && errno == ETIMEDOUT);
        time = soon(CLOCK_MONOTONIC);
        CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time) == -1 && errno == ETIMEDOUT);
        time.tv_sec = -1;
        CHECK(sem_timedwait(&semaphore, &time) == -1 && errno == ETIMEDOUT);
        CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
        resume_it();
    }
#pragma omp taskwait
}

static void post(void) {
    CHECK_EQ(sem_post(&semaphore), 0);
}

static void semaphores(void) {
    done = 0;
    suspended_first(post);
    for (int i = 0; i < 5; ++i) { /* each posts for the next */
#pragma omp task
        {
            CHECK_EQ(sem_wait(&semaphore), 0);
            ++done;
            post();
        }
    }
#pragma omp task
    resume_it();
#pragma omp taskwait
    CHECK_EQ(done, 5);
    suspended_first(nothing);
#pragma omp task
    resume_it();
#pragma omp taskwait
    CHECK_EQ(sem_wait(&semaphore), 0);
}

static void in_handler(int signal) {
    (void)signal;
    sem_post(&semaphore);
}

static void semaphore_of_handler(void) {
    CHECK(signal(SIGUSR1, in_handler) != SIG_ERR);
    suspended_first(nothing);
#pragma omp task
    {
        CHECK_EQ(sem_wait(&semaphore), 0);
        resume_it();
    }
#pragma omp task
    raise(SIGUSR1);
#pragma omp taskwait
}

static void *help(void *argument) {
    (void)argument;
    while (!waiting) {
    }
    tell_all();
    return NULL;
}

/* The other one is a thread that runs no tasks, and blocks as ever. */
static void *wait_in_thread(void *argument) {
    (void)argument;
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    waiting = 1;
    while (items != 1)
        CHECK_EQ(pthread_cond_wait(&cond, &mutex), 0);
    items = 2;
    CHECK_EQ(pthread_cond_broadcast(&cond), 0);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

static void with_a_thread(void *(*body)(void *), int last) {
    pthread_t thread;
    items = waiting = 0;
    suspended_first(nothing);
    CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
#pragma omp task
    {
        CHECK_EQ(pthread_mutex_lock(&mutex), 0);
        if (last == 2) {
            while (!waiting) { /* until it waits it has the mutex, at times */
                CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
                CHECK_EQ(pthread_mutex_lock(&mutex), 0);
            }
            items = 1;
            CHECK_EQ(pthread_cond_broadcast(&cond), 0);
        }
        waiting = 1;
        while (items != last)
            CHECK_EQ(pthread_cond_wait(&cond, &mutex), 0);
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
        resume_it();
    }
#pragma omp taskwait
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

enum { meetings = 5 };
static pthread_barrier_t barrier;

/* The last one of a round of the last meeting destroys it at once. */
static void meet(int others) {
    for (int round = 0; round < meetings; ++round) {
        const int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        __atomic_add_fetch(&items, 1, __ATOMIC_RELAXED);
        if (round == meetings - 1 && result == PTHREAD_BARRIER_SERIAL_THREAD)
            CHECK_EQ(pthread_barrier_destroy(&barrier), 0);
        else
            CHECK(__atomic_load_n(&items, __ATOMIC_RELAXED) >= round * others);
    }
}

static void meet_three(void) {
    meet(3);
}

static void *meet_in_thread(void *argument) {
    (void)argument;
    meet(3);
    return NULL;
}

/* Two or three tasks of one thread, the third one may be a thread that runs no tasks. */
static void barriers(int in_thread) {
    pthread_t thread;
    items = 0;
    CHECK_EQ(pthread_barrier_init(&barrier, NULL, 3), 0);
    suspended_first(meet_three);
    if (in_thread)
        CHECK_EQ(pthread_create(&thread, NULL, meet_in_thread, NULL), 0);
    for (int i = in_thread; i < 2; ++i) {
#pragma omp task
        meet(3);
    }
#pragma omp task
    resume_it();
#pragma omp taskwait
    if (in_thread)
        CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(items, 3 * meetings);
}

static void *resume_and_end(void *argument) {
    while (!waiting)
        usleep(100);
    resume_it();
    while (!done)
        usleep(100);
    return argument;
}

static void nothing_more(void) {
    done = 1;
}

/* Who joins a thread with a time limit lets the task go on for which the thread waits. */
static void joins_in_time(void) {
    pthread_t thread;
    waiting = done = 0;
    suspended_first(nothing_more);
    CHECK_EQ(pthread_create(&thread, NULL, resume_and_end, &mutex), 0);
#pragma omp task
    {
        void *result = NULL;
        struct timespec time = soon(CLOCK_REALTIME);
        CHECK_EQ(pthread_timedjoin_np(thread, &result, &time), ETIMEDOUT);
        time.tv_nsec = -1;
        CHECK_EQ(pthread_timedjoin_np(thread, &result, &time), EINVAL);
        waiting = 1;
        time = soon(CLOCK_MONOTONIC);
        time.tv_sec += 1000;
        CHECK_EQ(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &time), 0);
        CHECK(result == &mutex);
    }
#pragma omp taskwait
}

static pthread_once_t control = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int initialized;

static void initialize(void) {
    suspended = door_self();
    CHECK_EQ(DOOR(sennit_task_suspend)(suspended), SENNIT_SUCCESS);
    ++initialized;
}

static void once(int c11) {
    initialized = 0;
    suspended = NULL;
    for (int i = 0; i < 5; ++i) {
#pragma omp task
        {
            if (c11)
                call_once(&flag, initialize);
            else
                CHECK_EQ(pthread_once(&control, initialize), 0);
            CHECK_EQ(initialized, 1);
        }
    }
    while (!suspended) {
#pragma omp taskyield
    }
#pragma omp task
    resume_it();
#pragma omp taskwait
    CHECK_EQ(initialized, 1);
}

/* Who waits in the parent waits; in the child the other task waits, too, and is told there. */
static void forks(void) {
    items = 0;
    suspended_first(tell_all);
#pragma omp task
    {
        CHECK_EQ(pthread_mutex_lock(&mutex), 0);
        waiting = 3;
        while (!items)
            CHECK_EQ(pthread_cond_wait(&cond, &mutex), 0);
        CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    }
    while (waiting != 3) {
#pragma omp taskyield
    }
#pragma omp task
    {
        const pid_t child = fork();
        resume_it();
        if (child != 0) {
            int status;
            CHECK_EQ(waitpid(child, &status, 0), child);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        } else {
            waiting = 4;
        }
    }
#pragma omp taskwait
    CHECK_EQ(items, 1);
    if (waiting == 4)
        _exit(0);
}

int main(void) {
    CHECK_EQ(sem_init(&semaphore, 0, 0), 0);
#pragma omp parallel num_threads(1)
    {
        condition_variable();
        broadcast();
        time_limits();
        semaphores();
        semaphore_of_handler();
        with_a_thread(help, 1);
        with_a_thread(wait_in_thread, 2);
        barriers(0);
        barriers(1);
        joins_in_time();
        once(0);
        once(1);
        forks();
    }
    return 0;
}
