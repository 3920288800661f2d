// SPDX-License-Identifier: Apache-2.0
// Mutexes and read-write locks in tasks. A lock that stays contended, or whose holder is suspended,
// suspends the task (parking.h). A
// recursive or error-checking mutex asks for its owner: that is a task (owner.h).
//
// In code that is not the program's own (caller.h), a task is suspended only for a lock that a
// suspended task holds. Any other holder unlocks it without telling us. So the thread blocks for a
// while, then looks again.
#pragma once

#include "pthread/parking.h"

#include <pthread.h>

namespace sennit::pthread {

// As the functions that they are named after; `caller` is the address that they return to.
int mutex_lock(pthread_mutex_t *mutex, const void *caller);
int mutex_trylock(pthread_mutex_t *mutex, const void *caller);
int mutex_clocklock(pthread_mutex_t *mutex, const Deadline &until, const void *caller);
int mutex_unlock(pthread_mutex_t *mutex);

int rwlock_rdlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller);
int rwlock_wrlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller);
int rwlock_tryrdlock(pthread_rwlock_t *lock, const void *caller);
int rwlock_trywrlock(pthread_rwlock_t *lock, const void *caller);
int rwlock_unlock(pthread_rwlock_t *lock);

int spin_lock(pthread_spinlock_t *lock, const void *caller);
int spin_trylock(pthread_spinlock_t *lock, const void *caller);

} // namespace sennit::pthread
