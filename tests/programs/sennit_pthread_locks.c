/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # as sennit_outside_ends.c
 * test, split:
 * docs/user/openmp.md, "Locks of the operating system": a task is suspended while it holds a mutex,
 * a read-write lock or a spin lock of pthreads; other tasks of the same, only thread that want it
 * wait as tasks, so that those that resume the holder run. Who owns a mutex is a task, not its
 * thread.
 */
#define _GNU_SOURCE
#include "sennit_door.h"
#include "soon.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

enum { contenders = 10 };
/* volatile: gcc thinks that taskyield changes no static variable */
static sennit_task *volatile holder;
static volatile int order, looked;

typedef struct {
    const char *name;
    void (*acquire)(void);
    void (*release)(void);
    int (*attempt)(void); /* 0, EBUSY */
    int (*in_time)(void); /* 0, ETIMEDOUT: a hundredth of a second */
    int foreign_release;  /* what the release by a task that is not the owner returns; 0: not tried
                           */
    int (*try_release)(void);
    int again; /* what the owner gets who acquires it once more; -1: not tried */
    int (*acquire_again)(void);
} Lock;

static pthread_mutex_t mutex; /* of the kind that is tested */
static void mutex_acquire(void) {
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
}
static void mutex_release(void) {
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}
static int mutex_attempt(void) {
    return pthread_mutex_trylock(&mutex);
}
static int mutex_in_time(void) {
    const struct timespec time = soon(CLOCK_REALTIME);
    return pthread_mutex_timedlock(&mutex, &time);
}
static int mutex_on_clock(void) {
    const struct timespec time = soon(CLOCK_MONOTONIC);
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &time);
}
static int mutex_try_release(void) {
    return pthread_mutex_unlock(&mutex);
}
static int mutex_acquire_again(void) {
    const int result = pthread_mutex_lock(&mutex);
    if (result == 0)
        mutex_release();
    return result;
}

static void recursive_acquire(void) {
    for (int i = 0; i < 3; ++i)
        mutex_acquire();
    mutex_release();
}
static void recursive_release(void) {
    mutex_release();
    mutex_release();
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void rwlock_write(void) {
    CHECK_EQ(pthread_rwlock_wrlock(&rwlock), 0);
}
static void rwlock_release(void) {
    CHECK_EQ(pthread_rwlock_unlock(&rwlock), 0);
}
static int rwlock_attempt(void) {
    CHECK_EQ(pthread_rwlock_tryrdlock(&rwlock), EBUSY);
    return pthread_rwlock_trywrlock(&rwlock);
}
static int rwlock_in_time(void) {
    struct timespec time = soon(CLOCK_REALTIME);
    CHECK_EQ(pthread_rwlock_timedrdlock(&rwlock, &time), ETIMEDOUT);
    time = soon(CLOCK_MONOTONIC);
    return pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &time);
}
static int rwlock_acquire_again(void) {
    return pthread_rwlock_wrlock(&rwlock);
}

static pthread_spinlock_t spin;
static void spin_acquire(void) {
    CHECK_EQ(pthread_spin_lock(&spin), 0);
}
static void spin_release(void) {
    CHECK_EQ(pthread_spin_unlock(&spin), 0);
}
static int spin_attempt(void) {
    return pthread_spin_trylock(&spin);
}
static void spin_loop_of_tries(void) {
    while (pthread_spin_trylock(&spin) != 0) {
    }
}

static void loop_of_tries(void) {
    int result;
    while ((result = pthread_mutex_trylock(&mutex)) != 0)
        CHECK_EQ(result, EBUSY);
}

static mtx_t c11_mutex;
static void c11_acquire(void) {
    CHECK_EQ(mtx_lock(&c11_mutex), thrd_success);
}
static void c11_release(void) {
    CHECK_EQ(mtx_unlock(&c11_mutex), thrd_success);
}
static int c11_attempt(void) {
    return mtx_trylock(&c11_mutex) == thrd_busy ? EBUSY : 0;
}
static int c11_in_time(void) {
    const struct timespec time = soon(CLOCK_REALTIME);
    return mtx_timedlock(&c11_mutex, &time) == thrd_timedout ? ETIMEDOUT : 0;
}

static void hold_and_suspend(const Lock *lock) {
    lock->acquire();
    if (lock->acquire_again)
        CHECK_EQ(lock->acquire_again(), lock->again);
    holder = door_self();
    CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
    CHECK_EQ(order, 0);
    ++order;
    if (lock->acquire_again)
        CHECK_EQ(lock->acquire_again(), lock->again);
    lock->release();
}

/* A task that does not hold it, while the one that does is suspended on the same thread. */
static void look(const Lock *lock) {
    if (lock->attempt)
        CHECK_EQ(lock->attempt(), EBUSY);
    if (lock->in_time)
        CHECK_EQ(lock->in_time(), ETIMEDOUT);
    if (lock->foreign_release)
        CHECK_EQ(lock->try_release(), lock->foreign_release);
    CHECK_EQ(order, 0);
    looked = 1;
}

static void scene(const Lock *lock) {
    order = 0;
    holder = NULL;
#pragma omp task
    hold_and_suspend(lock);
    while (!holder) {
#pragma omp taskyield
    }
    looked = 0;
#pragma omp task
    look(lock);
    while (!looked) {
#pragma omp taskyield
    }
    for (int contender = 0; contender < contenders; ++contender) {
#pragma omp task
        {
            lock->acquire();
            CHECK(order > 0);
            ++order;
            lock->release();
        }
    }
#pragma omp task
    {
#pragma omp taskyield
        CHECK_EQ(order, 0);
        CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
    }
#pragma omp taskwait
    CHECK_EQ(order, 1 + contenders);
}

static void mutex_scene(int type, int robust, int protocol, Lock lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    CHECK_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    scene(&lock);
    CHECK_EQ(pthread_mutex_destroy(&mutex), 0);
}

/* Readers share; a writer waits for a reader that is suspended. */
static void readers(void) {
    static volatile int reading, written;
    holder = NULL;
#pragma omp task
    {
        CHECK_EQ(pthread_rwlock_rdlock(&rwlock), 0);
        ++reading;
        holder = door_self();
        CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
        CHECK_EQ(written, 0);
        rwlock_release();
    }
    while (!holder) {
#pragma omp taskyield
    }
#pragma omp task
    {
        CHECK_EQ(pthread_rwlock_rdlock(&rwlock), 0);
        CHECK_EQ(pthread_rwlock_trywrlock(&rwlock), EBUSY);
        ++reading;
        rwlock_release();
    }
#pragma omp taskyield
#pragma omp task
    {
        rwlock_write();
        CHECK_EQ(reading, 2);
        written = 1;
        rwlock_release();
    }
#pragma omp task
    {
#pragma omp taskyield
        CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
    }
#pragma omp taskwait
    CHECK_EQ(written, 1);
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Another thread holds the mutex for a short time, and is not suspended. The task that wants it is
 * not suspended for that: its thread begins no other task, save now and then, when the machine is
 * busy and the holder late. */
static void held_for_a_short_time(void) {
    enum { rounds = 200, hold_us = 30 };
    static int asked, held;
    /* Tasks of the first thread. In the last round the other one may take some, too. */
    static int others, ended;
    int calm = 0;
    CHECK_EQ(pthread_mutex_init(&mutex, NULL), 0);
    holder = NULL;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        for (int round = 1; round <= rounds; ++round) {
            while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) != round) {
            }
            mutex_acquire();
            __atomic_store_n(&held, round, __ATOMIC_RELEASE);
            for (const double end = now_us() + hold_us; now_us() < end;) {
            }
            mutex_release();
        }
    } else {
#pragma omp task
        { /* so that there is somebody beside whom the thread must not block for long */
            holder = door_self();
            CHECK_EQ(DOOR(sennit_task_suspend)(holder), SENNIT_SUCCESS);
        }
        while (!holder) {
#pragma omp taskyield
        }
        for (int round = 1; round <= rounds; ++round) {
            for (int part = -1; part <= 1; ++part) {
#pragma omp task shared(calm)
                {
                    if (part == 0) {
                        __atomic_store_n(&asked, round, __ATOMIC_RELEASE);
                        while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != round) {
                        }
                        const int before = __atomic_load_n(&others, __ATOMIC_RELAXED);
                        mutex_acquire();
                        calm += __atomic_load_n(&others, __ATOMIC_RELAXED) == before;
                        mutex_release();
                    } else {
                        __atomic_fetch_add(&others, 1, __ATOMIC_RELAXED);
                    }
                    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
                }
            }
            while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < 3 * round) {
#pragma omp taskyield
            }
        }
        CHECK_EQ(DOOR(sennit_task_resume)(holder), SENNIT_SUCCESS);
    }
    CHECK_EQ(pthread_mutex_destroy(&mutex), 0);
    CHECK(calm > rounds / 4);
}

int main(void) {
    const Lock plain = {.name = "mutex",
                        .acquire = mutex_acquire,
                        .release = mutex_release,
                        .attempt = mutex_attempt,
                        .in_time = mutex_in_time};
    Lock checking = plain;
    checking.in_time = mutex_on_clock;
    checking.foreign_release = EPERM;
    checking.try_release = mutex_try_release;
    checking.again = EDEADLK;
    checking.acquire_again = mutex_acquire_again;
    Lock recursive = checking;
    recursive.again = 0;
    recursive.acquire = recursive_acquire;
    recursive.release = recursive_release;
    Lock tried = plain;
    tried.acquire = loop_of_tries;
    Lock tried_recursive = tried;
    const Lock writer = {.name = "read-write lock",
                         .acquire = rwlock_write,
                         .release = rwlock_release,
                         .attempt = rwlock_attempt,
                         .in_time = rwlock_in_time,
                         .again = EDEADLK,
                         .acquire_again = rwlock_acquire_again};
    const Lock spinning = {.name = "spin lock",
                           .acquire = spin_acquire,
                           .release = spin_release,
                           .attempt = spin_attempt};
    Lock spinning_tries = spinning;
    spinning_tries.acquire = spin_loop_of_tries;
    const Lock c11 = {.name = "C11 mutex",
                      .acquire = c11_acquire,
                      .release = c11_release,
                      .attempt = c11_attempt,
                      .in_time = c11_in_time};
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    CHECK_EQ(mtx_init(&c11_mutex, mtx_timed), thrd_success);
#pragma omp parallel num_threads(1)
    {
        mutex_scene(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, plain);
        mutex_scene(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, plain);
        mutex_scene(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, plain);
        mutex_scene(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, plain);
        mutex_scene(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, checking);
        mutex_scene(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, recursive);
        mutex_scene(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, tried);
        mutex_scene(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
                    tried_recursive);
        scene(&writer);
        readers();
        scene(&spinning);
        scene(&spinning_tries);
        scene(&c11);
    }
    held_for_a_short_time();
    return 0;
}
