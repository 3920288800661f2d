// SPDX-License-Identifier: Apache-2.0
// Waits for signals that the thread has blocked: they stay pending until somebody takes them, for
// the process or for this thread, to which its task stays. No file tells of them that the program
// would not see: so the task tries again after naps.
#include "tasks/libc/calls.h"
#include "tasks/libc/waits.h"
#include "tasks/pthread/bare.h"

#include <cerrno>
#include <csignal>

namespace sennit::libc {

using pthread::bare;

namespace {

// One that is not blocked is taken only by a thread that is in the call: elsewhere its handler
// runs. The system lets nobody block or await two of them.
bool are_blocked(const sigset_t &signals) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    for (int signal = 1; signal < _NSIG; ++signal)
        if (signal != SIGKILL && signal != SIGSTOP && sigismember(&signals, signal) == 1 &&
            sigismember(&blocked, signal) != 1)
            return false;
    return true;
}

} // namespace

int sigtimedwait(const sigset_t *signals, siginfo_t *info, const timespec *time,
                 const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || (time && (!is_valid(*time) || ns_of(*time) == 0)) || !are_blocked(*signals))
        return bare.sigtimedwait(signals, info, time);
    timespec storage;
    const Deadline until = time ? Deadline::in_ns(ns_of(*time), storage) : Deadline();
    const auto attempt = [=] {
        constexpr timespec kAtOnce = {0, 0};
        return bare.sigtimedwait(signals, info, &kAtOnce);
    };
    const auto block = [&] {
        const timespec left = left_until(until);
        return bare.sigtimedwait(signals, info, time ? &left : nullptr);
    };
    const int result = attempt();
    if (result >= 0 || errno != EAGAIN)
        return result;
    Retries retries(*worker);
    const int tried = try_again([&] { return retries.nap(until); }, attempt, block);
    return tried >= 0 || errno != EAGAIN ? tried : attempt(); // it may have come in the last nap
}

int sigwait(const sigset_t *signals, int *signal, const void *caller) {
    int result = 0;
    do
        result = sigtimedwait(signals, nullptr, nullptr, caller);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *signal = result;
    return 0;
}

} // namespace sennit::libc
