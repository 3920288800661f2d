// SPDX-License-Identifier: Apache-2.0
// The functions that this room stands in front of, as they are without it: those of the next object
// in the loader's order, which is libc or a tool in front of libc.
#pragma once

#include <cstddef>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

namespace sennit::pthread {

// X(result, name, (parameters), (arguments))
#define SENNIT_BARE_FUNCTIONS(X)                                                                   \
    X(int, pthread_mutex_lock, (pthread_mutex_t * a), (a))                                         \
    X(int, pthread_mutex_trylock, (pthread_mutex_t * a), (a))                                      \
    X(int, pthread_mutex_clocklock, (pthread_mutex_t * a, clockid_t b, const timespec *c),         \
      (a, b, c))                                                                                   \
    X(int, pthread_mutex_unlock, (pthread_mutex_t * a), (a))                                       \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * a), (a))                                  \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * a), (a))                                  \
    X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * a, clockid_t b, const timespec *c),     \
      (a, b, c))                                                                                   \
    X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * a, clockid_t b, const timespec *c),     \
      (a, b, c))                                                                                   \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_cond_wait, (pthread_cond_t * a, pthread_mutex_t * b), (a, b))                   \
    X(int, pthread_cond_timedwait, (pthread_cond_t * a, pthread_mutex_t * b, const timespec *c),   \
      (a, b, c))                                                                                   \
    X(int, pthread_cond_clockwait,                                                                 \
      (pthread_cond_t * a, pthread_mutex_t * b, clockid_t c, const timespec *d), (a, b, c, d))     \
    X(int, pthread_cond_signal, (pthread_cond_t * a), (a))                                         \
    X(int, pthread_cond_broadcast, (pthread_cond_t * a), (a))                                      \
    X(int, sem_wait, (sem_t * a), (a))                                                             \
    X(int, sem_trywait, (sem_t * a), (a))                                                          \
    X(int, sem_timedwait, (sem_t * a, const timespec *b), (a, b))                                  \
    X(int, sem_clockwait, (sem_t * a, clockid_t b, const timespec *c), (a, b, c))                  \
    X(int, sem_post, (sem_t * a), (a))                                                             \
    X(int, pthread_spin_lock, (pthread_spinlock_t * a), (a))                                       \
    X(int, pthread_spin_trylock, (pthread_spinlock_t * a), (a))                                    \
    X(int, pthread_join, (pthread_t a, void **b), (a, b))                                          \
    X(int, pthread_tryjoin_np, (pthread_t a, void **b), (a, b))                                    \
    X(int, pthread_clockjoin_np, (pthread_t a, void **b, clockid_t c, const timespec *d),          \
      (a, b, c, d))                                                                                \
    X(int, pthread_barrier_wait, (pthread_barrier_t * a), (a))                                     \
    X(int, pthread_barrier_destroy, (pthread_barrier_t * a), (a))                                  \
    X(int, pthread_once, (pthread_once_t * a, void (*b)()), (a, b))                                \
    X(int, sched_setaffinity, (pid_t a, std::size_t b, const cpu_set_t *c), (a, b, c))             \
    X(int, pthread_setaffinity_np, (pthread_t a, std::size_t b, const cpu_set_t *c), (a, b, c))    \
    X(long, syscall, (long a, long b, long c, long d, long e, long f, long g),                     \
      (a, b, c, d, e, f, g))

// Found at the first call of any of them: libraries call them before our constructors run.
struct Bare {
#define SENNIT_BARE(result, name, parameters, arguments) result(*name) parameters;
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
};
extern Bare bare;
void find_bare(); // now
// Do libraries find our function of this name, not that of a tool in front of us?
bool is_first(const char *name);

// Libraries in which no task is ever suspended. They hold nothing across a suspension, so they need
// none of our mutexes, whose calls cost more.

// Those that are loaded, and of which `library` is true, call libc's functions again where they
// called ours. Any time, any thread.
void leave_alone(bool (*library)(const char *path));

} // namespace sennit::pthread
