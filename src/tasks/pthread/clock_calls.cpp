// SPDX-License-Identifier: Apache-2.0
// Waits until a time of any clock, made of waits until a time of CLOCK_REALTIME, for a glibc that
// has only these. There a program calls these, too, whose clock comes here with them: nothing is
// lost. Code that looks for the newer ones by name, and gives a time of another clock, waits too
// short or too long if the date is set meanwhile.
#include "tasks/pthread/bare.h"
#include "tasks/pthread/condition.h"

#include <cerrno>
#include <cstring>

namespace sennit::pthread {
namespace {

constexpr long kSecond = 1'000'000'000; // ns

// What `to` shows when `from` shows `time`. Times that libc refuses stay as they are.
timespec on_clock(clockid_t to, clockid_t from, const timespec &time) {
    if (to == from || time.tv_nsec < 0 || time.tv_nsec >= kSecond)
        return time;
    timespec there;
    timespec here;
    clock_gettime(from, &here);
    clock_gettime(to, &there);
    timespec result{0, there.tv_nsec + (time.tv_nsec - here.tv_nsec)};
    if (__builtin_add_overflow(time.tv_sec, there.tv_sec - here.tv_sec, &result.tv_sec))
        return time; // for ever on either clock
    if (result.tv_nsec < 0) {
        --result.tv_sec;
        result.tv_nsec += kSecond;
    } else if (result.tv_nsec >= kSecond) {
        ++result.tv_sec;
        result.tv_nsec -= kSecond;
    }
    return result;
}

bool is_known(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

// A wait for `object` by the member `timed` of Bare.
template <auto timed, class Object>
int lock_until(Object *object, clockid_t clock, const timespec *time) {
    if (!is_known(clock))
        return EINVAL;
    const timespec end = on_clock(CLOCK_REALTIME, clock, *time);
    return (bare.*timed)(object, &end);
}

int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
               const timespec *time) {
    if (!is_known(clock))
        return EINVAL;
    const timespec end = on_clock(clock_of(*cond), clock, *time);
    return bare.pthread_cond_timedwait(cond, mutex, &end);
}

// Unlike the others, it tells of errors by errno.
int take_until(sem_t *semaphore, clockid_t clock, const timespec *time) {
    if (is_known(clock))
        return lock_until<&Bare::sem_timedwait>(semaphore, clock, time);
    errno = EINVAL;
    return -1;
}

int join_until(pthread_t thread, void **result, clockid_t clock, const timespec *time) {
    if (!is_known(clock))
        return EINVAL;
    const timespec end = on_clock(CLOCK_REALTIME, clock, *time);
    return bare.pthread_timedjoin_np(thread, result, &end);
}

} // namespace

void *made_of_older_calls(const char *name) {
    const struct {
        const char *name;
        void *function;
    } calls[] = {
        {"pthread_mutex_clocklock",
         reinterpret_cast<void *>(lock_until<&Bare::pthread_mutex_timedlock, pthread_mutex_t>)},
        {"pthread_rwlock_clockrdlock",
         reinterpret_cast<void *>(lock_until<&Bare::pthread_rwlock_timedrdlock, pthread_rwlock_t>)},
        {"pthread_rwlock_clockwrlock",
         reinterpret_cast<void *>(lock_until<&Bare::pthread_rwlock_timedwrlock, pthread_rwlock_t>)},
        {"pthread_cond_clockwait", reinterpret_cast<void *>(wait_until)},
        {"sem_clockwait", reinterpret_cast<void *>(take_until)},
        {"pthread_clockjoin_np", reinterpret_cast<void *>(join_until)},
    };
    for (const auto &call : calls)
        if (std::strcmp(name, call.name) == 0)
            return call.function;
    return nullptr;
}

} // namespace sennit::pthread
