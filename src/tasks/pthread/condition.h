// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/pthread/parking.h"

#include <pthread.h>
#include <semaphore.h>

namespace sennit::pthread {

// Waits in tasks for condition variables, semaphores, barriers, futexes, threads and one-time
// initialization. Anybody may end such a wait. If other tasks of the thread are suspended, and the
// program's own code waits (caller.h), the task is suspended. Else its thread blocks.

// As the functions that they are named after; `caller` is the address that they return to.
int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *caller);
int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const timespec *time,
                   const void *caller);
int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                   const timespec *time, const void *caller);
clockid_t clock_of(const pthread_cond_t &cond); // of cond_timedwait
int cond_signal(pthread_cond_t *cond);
int cond_broadcast(pthread_cond_t *cond);

int semaphore_wait(sem_t *semaphore, const void *caller);
int semaphore_clockwait(sem_t *semaphore, clockid_t clock, const timespec *time,
                        const void *caller);
int semaphore_trywait(sem_t *semaphore, const void *caller);
int semaphore_post(sem_t *semaphore);

int barrier_wait(pthread_barrier_t *barrier, const void *caller);
int barrier_destroy(pthread_barrier_t *barrier, const void *caller);

int join(pthread_t thread, void **result, const Deadline &until, const void *caller);

int once(pthread_once_t *control, void (*initialize)(), const void *caller);

// What syscall(SYS_futex, ...) is to do: the C++ library's guards of static variables, its futures
// and atomic waits call that.
struct FutexCall {
    long word, operation, value, timeout, second_word, third_value;
};
long futex(const FutexCall &call, const void *caller);

void once_after_fork_in_child();

} // namespace sennit::pthread
