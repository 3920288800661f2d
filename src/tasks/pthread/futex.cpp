// SPDX-License-Identifier: Apache-2.0
// futex(2) by libc's syscall(). A task that waits for a word waits in the lot at the word's
// address; who wakes so many waiters wakes tasks first, then threads.
#include "tasks/pthread/bare.h"
#include "tasks/pthread/condition.h"
#include "wait/rows.h"

#include <algorithm>
#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace sennit::pthread {
namespace {

long call_bare(const FutexCall &call) {
    return bare.syscall(SYS_futex, call.word, call.operation, call.value, call.timeout,
                        call.second_word, call.third_value);
}

const void *address_of(const FutexCall &call) {
    return reinterpret_cast<const void *>(call.word);
}

std::uint32_t value_of(const FutexCall &call) {
    return __atomic_load_n(static_cast<const std::uint32_t *>(address_of(call)), __ATOMIC_SEQ_CST);
}

long fail(int error) {
    errno = error;
    return -1;
}

// FUTEX_WAIT has a time span, FUTEX_WAIT_BITSET a point in time.
long suspend(sched::Worker &worker, const FutexCall &call, bool is_span) {
    const auto *const time = reinterpret_cast<const timespec *>(call.timeout);
    const clockid_t clock =
        call.operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const Deadline given(clock, time);
    if (!given.valid())
        return fail(EINVAL);
    timespec storage;
    Deadline until = given;
    if (time && is_span) {
        constexpr std::int64_t kSecond = 1'000'000'000;
        constexpr std::int64_t kLongest = 1'000'000'000; // seconds
        const auto seconds = std::clamp<std::int64_t>(time->tv_sec, 0, kLongest);
        until = Deadline::in_ns(seconds * kSecond + time->tv_nsec, storage);
    }
    const auto has_to_wait = [&] {
        return value_of(call) == static_cast<std::uint32_t>(call.value);
    };
    // Of a word that processes share, perhaps, we do not see all wake-ups.
    const std::int64_t look_again_ns =
        call.operation & FUTEX_PRIVATE_FLAG ? -1 : wait::kSharedFutex.naps.longest_ns;
    for (bool first = true;; first = false) {
        Parking parking("futex", address_of(call));
        if (!parking.enter_if(has_to_wait))
            return first ? fail(EAGAIN) : 0;
        if (parking.wait(worker, until, look_again_ns))
            return 0;
        if (until.over())
            return fail(ETIMEDOUT);
    }
}

long wake_both(const FutexCall &call) {
    const int most = static_cast<int>(call.value);
    const int tasks = wake(address_of(call), most);
    if (tasks >= most && most > 0)
        return tasks;
    FutexCall rest = call;
    rest.value = most - tasks;
    const long threads = call_bare(rest);
    return threads < 0 ? threads : tasks + threads;
}

} // namespace

long futex(const FutexCall &call, const void *caller) {
    const long operation = call.operation & FUTEX_CMD_MASK;
    switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
            return suspend(*worker, call, operation == FUTEX_WAIT);
        break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: // some of the waiters: tasks may wake for nothing
        return wake_both(call);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP: // tasks are not moved to another word: they look again
        wake(address_of(call));
        if (operation == FUTEX_WAKE_OP)
            wake(reinterpret_cast<const void *>(call.second_word));
        break;
    default:
        break;
    }
    return call_bare(call);
}

} // namespace sennit::pthread
