// SPDX-License-Identifier: Apache-2.0
// The names under which programs and libraries find this room's functions: libc's. In the library
// only: a program that links our objects, such as the unit tests, has libc's.
#include "base/compiler.h"
#include "tasks/pthread/affinity.h"
#include "tasks/pthread/bare.h"
#include "tasks/pthread/condition.h"
#include "tasks/pthread/mutex.h"

#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>

using namespace sennit::pthread;

#define CALLER __builtin_return_address(0)

// Under a name of our own in C++: libc's headers declare theirs with attributes that differ.
#define INTERPOSE(result, name, parameters, call)                                                  \
    extern "C" SENNIT_EXPORT result interposed_##name parameters __asm__(#name);                   \
    result interposed_##name parameters {                                                          \
        return call;                                                                               \
    }

INTERPOSE(int, pthread_mutex_lock, (pthread_mutex_t * mutex), mutex_lock(mutex, CALLER))
INTERPOSE(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), mutex_trylock(mutex, CALLER))
INTERPOSE(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec *time),
          mutex_clocklock(mutex, Deadline(CLOCK_REALTIME, time), CALLER))
INTERPOSE(int, pthread_mutex_clocklock,
          (pthread_mutex_t * mutex, clockid_t clock, const timespec *time),
          mutex_clocklock(mutex, Deadline(clock, time), CALLER))
INTERPOSE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), mutex_unlock(mutex))

INTERPOSE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock),
          rwlock_rdlock(lock, Deadline(), CALLER))
INTERPOSE(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec *time),
          rwlock_rdlock(lock, Deadline(CLOCK_REALTIME, time), CALLER))
INTERPOSE(int, pthread_rwlock_clockrdlock,
          (pthread_rwlock_t * lock, clockid_t clock, const timespec *time),
          rwlock_rdlock(lock, Deadline(clock, time), CALLER))
INTERPOSE(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), rwlock_tryrdlock(lock, CALLER))
INTERPOSE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock),
          rwlock_wrlock(lock, Deadline(), CALLER))
INTERPOSE(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec *time),
          rwlock_wrlock(lock, Deadline(CLOCK_REALTIME, time), CALLER))
INTERPOSE(int, pthread_rwlock_clockwrlock,
          (pthread_rwlock_t * lock, clockid_t clock, const timespec *time),
          rwlock_wrlock(lock, Deadline(clock, time), CALLER))
INTERPOSE(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), rwlock_trywrlock(lock, CALLER))
INTERPOSE(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), rwlock_unlock(lock))

INTERPOSE(int, pthread_spin_lock, (pthread_spinlock_t * lock), spin_lock(lock, CALLER))
INTERPOSE(int, pthread_spin_trylock, (pthread_spinlock_t * lock), spin_trylock(lock, CALLER))

INTERPOSE(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex),
          cond_wait(cond, mutex, CALLER))
INTERPOSE(int, pthread_cond_timedwait,
          (pthread_cond_t * cond, pthread_mutex_t *mutex, const timespec *time),
          cond_timedwait(cond, mutex, time, CALLER))
INTERPOSE(int, pthread_cond_clockwait,
          (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock, const timespec *time),
          cond_clockwait(cond, mutex, clock, time, CALLER))
INTERPOSE(int, pthread_cond_signal, (pthread_cond_t * cond), cond_signal(cond))
INTERPOSE(int, pthread_cond_broadcast, (pthread_cond_t * cond), cond_broadcast(cond))

INTERPOSE(int, sem_wait, (sem_t * semaphore), semaphore_wait(semaphore, CALLER))
INTERPOSE(int, sem_timedwait, (sem_t * semaphore, const timespec *time),
          semaphore_clockwait(semaphore, CLOCK_REALTIME, time, CALLER))
INTERPOSE(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec *time),
          semaphore_clockwait(semaphore, clock, time, CALLER))
INTERPOSE(int, sem_trywait, (sem_t * semaphore), semaphore_trywait(semaphore, CALLER))
INTERPOSE(int, sem_post, (sem_t * semaphore), semaphore_post(semaphore))

INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier), barrier_wait(barrier, CALLER))
INTERPOSE(int, pthread_barrier_destroy, (pthread_barrier_t * barrier),
          barrier_destroy(barrier, CALLER))

INTERPOSE(int, pthread_join, (pthread_t thread, void **result),
          join(thread, result, Deadline(), CALLER))
INTERPOSE(int, pthread_timedjoin_np, (pthread_t thread, void **result, const timespec *time),
          join(thread, result, Deadline(CLOCK_REALTIME, time), CALLER))
INTERPOSE(int, pthread_clockjoin_np,
          (pthread_t thread, void **result, clockid_t clock, const timespec *time),
          join(thread, result, Deadline(clock, time), CALLER))

INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*initialize)()),
          once(control, initialize, CALLER))

// syscall(2) passes on what may be its arguments: the C library's does no less.
INTERPOSE(long, syscall, (long number, long a, long b, long c, long d, long e, long f),
          number == SYS_futex               ? futex({a, b, c, d, e, f}, CALLER)
          : number == SYS_sched_setaffinity ? system_affinity(a, b, c, CALLER)
                                            : bare.syscall(number, a, b, c, d, e, f))

INTERPOSE(int, sched_setaffinity, (pid_t thread, std::size_t bytes, const cpu_set_t *set),
          set_affinity(thread, bytes, set, CALLER))
INTERPOSE(int, pthread_setaffinity_np, (pthread_t thread, std::size_t bytes, const cpu_set_t *set),
          set_affinity_of(thread, bytes, set, CALLER))

// ---- C11 threads, whose objects are those of pthreads ----------------------------------------

namespace {

int c11(int error) {
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case ENOMEM:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

int c11_join(thrd_t thread, int *result, const void *caller) {
    void *returned = nullptr;
    const int error = join(thread, &returned, Deadline(), caller);
    if (result)
        *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
    return c11(error);
}

pthread_mutex_t *mutex_of(mtx_t *mutex) {
    static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
    return reinterpret_cast<pthread_mutex_t *>(mutex);
}

pthread_cond_t *cond_of(cnd_t *cond) {
    static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t));
    return reinterpret_cast<pthread_cond_t *>(cond);
}

} // namespace

INTERPOSE(int, mtx_lock, (mtx_t * mutex), c11(mutex_lock(mutex_of(mutex), CALLER)))
INTERPOSE(int, mtx_trylock, (mtx_t * mutex), c11(mutex_trylock(mutex_of(mutex), CALLER)))
INTERPOSE(int, mtx_timedlock, (mtx_t * mutex, const timespec *time),
          c11(mutex_clocklock(mutex_of(mutex), Deadline(CLOCK_REALTIME, time), CALLER)))
INTERPOSE(int, mtx_unlock, (mtx_t * mutex), c11(mutex_unlock(mutex_of(mutex))))
INTERPOSE(int, cnd_wait, (cnd_t * cond, mtx_t *mutex),
          c11(cond_wait(cond_of(cond), mutex_of(mutex), CALLER)))
INTERPOSE(int, cnd_timedwait, (cnd_t * cond, mtx_t *mutex, const timespec *time),
          c11(cond_timedwait(cond_of(cond), mutex_of(mutex), time, CALLER)))
INTERPOSE(int, cnd_signal, (cnd_t * cond), c11(cond_signal(cond_of(cond))))
INTERPOSE(int, cnd_broadcast, (cnd_t * cond), c11(cond_broadcast(cond_of(cond))))
INTERPOSE(int, thrd_join, (thrd_t thread, int *result), c11_join(thread, result, CALLER))
INTERPOSE(void, call_once, (once_flag * flag, void (*initialize)()),
          static_cast<void>(once(reinterpret_cast<pthread_once_t *>(flag), initialize, CALLER)))
