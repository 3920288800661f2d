// SPDX-License-Identifier: Apache-2.0
// Condition variables: a task waits in the lot at the variable's address, threads wait in libc. A
// signal goes to one of each: one of them wakes for nothing, which POSIX allows.
#include "pthread/bare.h"
#include "pthread/libc_unlocks.h"
#include "pthread/mutex.h"
#include "pthread/owner.h"
#include "pthread/waits.h"

#include <cerrno>

namespace sennit::pthread {

constinit std::atomic<int> detail::g_libc_unlocks[detail::kUnlockCounts] = {};

namespace {

constexpr unsigned kShared = 1;    // in __wrefs: between processes
constexpr unsigned kMonotonic = 2; // pthread_condattr_setclock

unsigned attributes_of(const pthread_cond_t &cond) {
    return __atomic_load_n(&cond.__data.__wrefs, __ATOMIC_RELAXED);
}

// libc unlocks the mutex and locks it again.
template <class Block>
int block(pthread_mutex_t &mutex, Block wait) {
    const LibcUnlock unlock(mutex);
    const int result = wait();
    if (const sched::Worker *worker = sched::Worker::self())
        Owner::of(mutex).note(worker->current());
    return result;
}

int suspend(sched::Worker &worker, pthread_cond_t &cond, pthread_mutex_t &mutex,
            const Deadline &until, const void *caller) {
    if (!until.valid())
        return EINVAL;
    // Who signals has locked the mutex after us, or changed the predicate before we looked at it.
    Parking parking("condition variable", &cond);
    parking.enter();
    if (const int error = mutex_unlock(&mutex)) {
        parking.leave();
        return error;
    }
    // Another process's signal does not reach us: then we wake for nothing.
    const bool late =
        !parking.wait(worker, until, attributes_of(cond) & kShared ? kLookAgainNs : -1) &&
        until.over();
    const int result = mutex_lock(&mutex, caller);
    return result != 0 ? result : late ? ETIMEDOUT : 0;
}

} // namespace

int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *cond, *mutex, Deadline(), caller);
    return block(*mutex, [=] { return bare.pthread_cond_wait(cond, mutex); });
}

int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const timespec *time,
                   const void *caller) {
    const clockid_t clock = attributes_of(*cond) & kMonotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *cond, *mutex, Deadline(clock, time), caller);
    return block(*mutex, [=] { return bare.pthread_cond_timedwait(cond, mutex, time); });
}

int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                   const timespec *time, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *cond, *mutex, Deadline(clock, time), caller);
    return block(*mutex, [=] { return bare.pthread_cond_clockwait(cond, mutex, clock, time); });
}

int cond_signal(pthread_cond_t *cond) {
    wake(cond, 1);
    return bare.pthread_cond_signal(cond);
}

int cond_broadcast(pthread_cond_t *cond) {
    wake(cond);
    return bare.pthread_cond_broadcast(cond);
}

} // namespace sennit::pthread
