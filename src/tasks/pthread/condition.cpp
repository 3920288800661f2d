// SPDX-License-Identifier: Apache-2.0
// Condition variables: a task waits in the lot at the variable's address, threads wait in libc. A
// signal goes to one of each: one of them wakes for nothing, which POSIX allows.
#include "tasks/pthread/condition.h"

#include "tasks/pthread/bare.h"
#include "tasks/pthread/mutex.h"
#include "wait/rows.h"

#include <cerrno>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>

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
    // The thread that signals has locked the mutex after us, or changed the predicate before we
    // looked at it.
    Parking parking("condition variable", &cond);
    parking.enter();
    if (const int error = mutex_unlock(&mutex)) {
        parking.leave();
        return error;
    }
    // Another process's signal does not reach us: then we wake for nothing.
    const bool late =
        !parking.wait(worker, until,
                      attributes_of(cond) & kShared ? wait::kSharedObject.naps.longest_ns : -1) &&
        until.over();
    const int result = mutex_lock(&mutex, caller);
    return result != 0 ? result : late ? ETIMEDOUT : 0;
}

} // namespace

clockid_t clock_of(const pthread_cond_t &cond) {
    return attributes_of(cond) & kMonotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *cond, *mutex, Deadline(), caller);
    return block(*mutex, [=] { return bare.pthread_cond_wait(cond, mutex); });
}

int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const timespec *time,
                   const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *cond, *mutex, Deadline(clock_of(*cond), time), caller);
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

// Semaphores: a task tries, and waits in the lot at the semaphore's address until somebody posts.

namespace {

// Of sem_init's second argument, or sem_open: libc keeps that in the third word.
bool is_shared(const sem_t &semaphore) {
    int shared;
    std::memcpy(&shared, semaphore.__size + 8, sizeof shared);
    return shared != 0;
}

// Errors as libc returns them, in errno.
int suspend(sched::Worker &worker, sem_t &semaphore, const Deadline &until) {
    const std::int64_t look_again_ns =
        is_shared(semaphore) ? wait::kSharedObject.naps.longest_ns : -1;
    for (;;) {
        if (bare.sem_trywait(&semaphore) == 0)
            return 0;
        if (errno != EAGAIN)
            return -1;
        if (!until.valid() || until.over()) {
            errno = until.valid() ? ETIMEDOUT : EINVAL;
            return -1;
        }
        Parking parking("semaphore", &semaphore);
        parking.enter();
        if (bare.sem_trywait(&semaphore) == 0) {
            parking.leave();
            return 0;
        }
        parking.wait(worker, until, look_again_ns);
    }
}

} // namespace

int semaphore_wait(sem_t *semaphore, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *semaphore, Deadline());
    return bare.sem_wait(semaphore);
}

int semaphore_clockwait(sem_t *semaphore, clockid_t clock, const timespec *time,
                        const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *semaphore, Deadline(clock, time));
    return bare.sem_clockwait(semaphore, clock, time);
}

int semaphore_trywait(sem_t *semaphore, const void *caller) {
    const int result = bare.sem_trywait(semaphore);
    if (result != 0 && errno == EAGAIN) {
        note_failed_try(caller);
        errno = EAGAIN;
    }
    return result;
}

int semaphore_post(sem_t *semaphore) {
    const int result = bare.sem_post(semaphore);
    wake(semaphore, 1);
    return result;
}

// pthread_barrier_t: tasks and kernel threads meet at one. A thread waits in libc. A task does the
// same steps on libc's structure (glibc's pthread_barrier_wait.c), but waits in the lot at the
// barrier's address.
//
// The thread that comes last ends the waits of both: libc's by a futex, those in the lot by wake(),
// for every call that returns from libc looks there. A barrier may be destroyed or unmapped as soon
// as all have counted themselves out, so nobody touches it after that.

namespace {

struct LibcBarrier {
    std::uint32_t in;            // how many have come, in all rounds
    std::uint32_t current_round; // how many of them may leave
    std::uint32_t count;
    std::uint32_t shared; // 0: private to the process
    std::uint32_t out;    // how many have left
};
static_assert(sizeof(LibcBarrier) <= sizeof(pthread_barrier_t));

LibcBarrier &of(pthread_barrier_t *barrier) {
    return *reinterpret_cast<LibcBarrier *>(barrier);
}

std::uint32_t load(const std::uint32_t &word) {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// At so many that have come and left, all begins anew.
std::uint32_t most_in(const LibcBarrier &barrier) {
    constexpr std::uint32_t kMost = UINT32_MAX / 2;
    return kMost - kMost % barrier.count;
}

// Only the address of the word is used.
void wake_all(const std::uint32_t &word, bool shared) {
    bare.syscall(SYS_futex, reinterpret_cast<long>(&word), shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE,
                 INT_MAX, 0, 0, 0);
}

template <class Done>
void wait_until(sched::Worker &worker, pthread_barrier_t *barrier, Done done) {
    const std::int64_t look_again_ns =
        of(barrier).shared != 0 ? wait::kSharedObject.naps.longest_ns : -1;
    while (!done()) {
        Parking parking("pthread barrier", barrier);
        parking.enter();
        if (done()) {
            parking.leave();
            return;
        }
        parking.wait(worker, Deadline(), look_again_ns);
    }
}

// Which number the caller has among those that have come.
std::uint32_t come(sched::Worker &worker, pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t most = most_in(b);
    for (;;) {
        const std::uint32_t number = __atomic_add_fetch(&b.in, 1, __ATOMIC_ACQ_REL);
        if (number <= most)
            return number;
        wait_until(worker, barrier, [&] { return load(b.in) <= most; });
    }
}

void leave(pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t most = most_in(b);
    if (__atomic_add_fetch(&b.out, 1, __ATOMIC_ACQ_REL) != most)
        return;
    __atomic_store_n(&b.current_round, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&b.out, 0, __ATOMIC_RELAXED);
    const bool shared = b.shared != 0;
    __atomic_store_n(&b.in, 0, __ATOMIC_RELEASE);
    wake_all(b.in, shared);
    wake(barrier);
}

int wait_as_task(sched::Worker &worker, pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t number = come(worker, barrier);
    const std::uint32_t round = number - number % b.count; // whose last one has come, too
    std::uint32_t before = load(b.current_round);
    while (before + b.count <= number)
        if (__atomic_compare_exchange_n(&b.current_round, &before, round, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            wake_all(b.current_round, b.shared != 0);
            wake(barrier);
            break;
        }
    wait_until(worker, barrier, [&] { return load(b.current_round) >= number; });
    const bool last = number % b.count == 0;
    leave(barrier);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

} // namespace

int barrier_wait(pthread_barrier_t *barrier, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return wait_as_task(*worker, barrier);
    const int result = bare.pthread_barrier_wait(barrier);
    wake(barrier);
    return result;
}

// The thread that destroys it waits until all have left, be it tasks of this thread.
int barrier_destroy(pthread_barrier_t *barrier, const void *caller) {
    sched::Worker *const worker = worker_with_others();
    if (SENNIT_LIKELY(!worker) || !may_suspend(*worker, caller))
        return bare.pthread_barrier_destroy(barrier);
    LibcBarrier &b = of(barrier);
    const std::uint32_t in = load(b.in);
    if (__atomic_fetch_add(&b.out, most_in(b) - in, __ATOMIC_ACQ_REL) < in)
        wait_until(*worker, barrier, [&] { return load(b.in) == 0; });
    return 0;
}

// Joining a thread. Nobody tells us when one ends, so who waits beside suspended tasks looks now
// and then.

int join(pthread_t thread, void **result, const Deadline &until, const void *caller) {
    sched::Worker *const worker = worker_with_others();
    if (SENNIT_LIKELY(!worker) || !may_suspend(*worker, caller))
        return until.for_ever()
                   ? bare.pthread_join(thread, result)
                   : bare.pthread_clockjoin_np(thread, result, until.clock(), until.time());
    for (;;) {
        if (const int error = bare.pthread_tryjoin_np(thread, result); error != EBUSY)
            return error;
        if (!until.valid() || until.over())
            return until.valid() ? ETIMEDOUT : EINVAL;
        Parking parking("end of a thread", &thread);
        parking.enter();
        parking.wait(*worker, until, wait::kSharedObject.naps.longest_ns);
    }
}

} // namespace sennit::pthread
