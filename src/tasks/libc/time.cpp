// SPDX-License-Identifier: Apache-2.0
// Sleeps: a timer resumes the task.
#include "tasks/libc/calls.h"
#include "tasks/libc/waits.h"
#include "tasks/pthread/bare.h"

#include <cerrno>
#include <threads.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// What is left of `time` goes where it came from in calls that a signal has ended. Returns whether
// it has slept; `interrupted` says how that ended.
bool sleep_in_task(sched::Worker &worker, const timespec &time, timespec *left, bool &interrupted) {
    timespec storage;
    const Deadline until = Deadline::in_ns(ns_of(time), storage);
    const End end = wait_for_time(worker, until);
    interrupted = end == End::interrupted;
    if (interrupted && left)
        *left = left_until(until);
    return end != End::refused;
}

} // namespace

int nanosleep(const timespec *time, timespec *left, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    bool interrupted = false;
    if (!worker || !is_valid(*time) || ns_of(*time) == 0 ||
        !sleep_in_task(*worker, *time, left, interrupted))
        return bare.nanosleep(time, left);
    return interrupted ? fail(EINTR) : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec *time, timespec *left,
                    const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const bool is_known = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
                          clock == CLOCK_TAI || clock == CLOCK_BOOTTIME;
    if (!worker || !is_known || !is_valid(*time))
        return bare.clock_nanosleep(clock, flags, time, left);
    bool interrupted = false;
    if (flags & TIMER_ABSTIME) {
        const Deadline until(clock, time);
        const End end = until.over() ? End::late : wait_for_time(*worker, until);
        if (end == End::refused)
            return bare.clock_nanosleep(clock, flags, time, left);
        interrupted = end == End::interrupted;
    } else if (ns_of(*time) == 0 || !sleep_in_task(*worker, *time, left, interrupted)) {
        return bare.clock_nanosleep(clock, flags, time, left);
    }
    return interrupted ? EINTR : 0;
}

int thrd_sleep(const timespec *time, timespec *left, const void *caller) {
    const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left, caller);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

int usleep(unsigned us, const void *caller) {
    constexpr unsigned kUsOfSecond = 1'000'000;
    const timespec time = {us / kUsOfSecond, static_cast<long>(us % kUsOfSecond) * 1000};
    return nanosleep(&time, nullptr, caller);
}

unsigned sleep(unsigned seconds, const void *caller) {
    const timespec time = {seconds, 0};
    timespec left = {0, 0};
    const int before = errno;
    if (nanosleep(&time, &left, caller) == 0) {
        errno = before;
        return 0;
    }
    return static_cast<unsigned>(left.tv_sec);
}

} // namespace sennit::libc
