// SPDX-License-Identifier: Apache-2.0
// The lock routines (OpenMP 5.2, 18.9) on a program's lock variables, which omp_* and __kmpc_*
// names share. GCC's omp_lock_t is 4 bytes, Clang's 8: the mutex is in the first four. GCC's
// omp_nest_lock_t is 16 bytes, Clang's 8: the variable holds a pointer.
//
// Inlined: a tool is told where the exported routine returns to.
#pragma once

#include "omp/sync/lock_events.h"
#include "omp/sync/sync.h"

#include <new>

namespace sennit::omp::routine {

inline Mutex &simple(void *lock) {
    return *static_cast<Mutex *>(lock);
}
inline NestMutex &nested(void *lock) {
    return **static_cast<NestMutex **>(lock);
}
// A mutex around code of the program: a lock variable's, or that of a construct.
SENNIT_TOLD void enter(ompt::MutexKind kind, Mutex &mutex, unsigned hint = 0) {
    if (ompt::on())
        return ompt::acquire(SENNIT_SITE, ompt::lock_at(kind, &mutex, hint),
                             [lock = &mutex] { lock->lock(); });
    mutex.lock();
}
SENNIT_TOLD void leave(ompt::MutexKind kind, Mutex &mutex) {
    if (ompt::on())
        return ompt::release(SENNIT_SITE, ompt::lock_at(kind, &mutex),
                             [lock = &mutex] { lock->unlock(); });
    mutex.unlock();
}

void make_nested(void *lock);
void drop_nested(void *lock);

SENNIT_TOLD void init(void *lock, unsigned hint = 0) {
    new (lock) Mutex;
    if (ompt::on())
        ompt::lock_init(SENNIT_SITE, ompt::lock_at(ompt::kLock, lock, hint));
}
SENNIT_TOLD void destroy(void *lock) {
    if (ompt::on())
        ompt::lock_destroy(SENNIT_SITE, ompt::lock_at(ompt::kLock, lock));
}
SENNIT_TOLD void set(void *lock) {
    enter(ompt::kLock, simple(lock));
}
SENNIT_TOLD void unset(void *lock) {
    leave(ompt::kLock, simple(lock));
}
SENNIT_TOLD int test(void *lock) {
    if (ompt::on())
        return ompt::test_lock(SENNIT_SITE, lock, simple(lock));
    return simple(lock).try_lock();
}

SENNIT_TOLD void init_nest(void *lock, unsigned hint = 0) {
    make_nested(lock);
    if (ompt::on())
        ompt::lock_init(SENNIT_SITE, ompt::lock_at(ompt::kNestLock, lock, hint));
}
SENNIT_TOLD void destroy_nest(void *lock) {
    if (ompt::on())
        ompt::lock_destroy(SENNIT_SITE, ompt::lock_at(ompt::kNestLock, lock));
    drop_nested(lock);
}
SENNIT_TOLD void set_nest(void *lock) {
    if (ompt::on())
        return ompt::set_nest_lock(SENNIT_SITE, lock, nested(lock));
    nest_lock(nested(lock));
}
SENNIT_TOLD void unset_nest(void *lock) {
    if (ompt::on())
        return ompt::unset_nest_lock(SENNIT_SITE, lock, nested(lock));
    nest_unlock(nested(lock));
}
SENNIT_TOLD int test_nest(void *lock) {
    if (ompt::on())
        return ompt::test_nest_lock(SENNIT_SITE, lock, nested(lock));
    return nest_try_lock(nested(lock));
}

} // namespace sennit::omp::routine
