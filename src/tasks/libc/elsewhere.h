// SPDX-License-Identifier: Apache-2.0
// A call of libc's that a helper thread makes while its task is suspended: for what the kernel
// cannot tell of when it is ready, as on regular files.
//
// The helper makes the very call that the task would make. So positions, O_APPEND, short counts and
// errors are the kernel's. io_uring, measured beside it, costs as much or more for each such call
// (docs/decisions.md).
//
// Invariant: a call that a helper has is in the frame of a task that stays suspended until the
// helper is through. No signal ends such a wait, as none ends the kernel's wait for a disk.
#pragma once

#include "base/futex.h"
#include "tasks/libc/waits.h"

#include <cerrno>
#include <clocale>
#include <csignal>

namespace sennit::libc {

// Once, while the library is loaded: helpers may use the processors of the calling thread.
void note_processors();

enum class CallEnds : std::uint8_t {
    by_itself,  // it ends whatever other tasks do: some helpers are enough for all
    by_another, // another task may have to end it, as for the opening of a named pipe: one helper
                // each
};

enum class Signals : std::uint8_t {
    of_the_call, // the helper takes only those that the call itself causes, as SIGPIPE
    of_caller,   // it has the mask of the task's thread: a child of the call inherits it
};

// Lives in the task's frame.
struct Errand {
    void (*make)(Errand &errand);
    CallEnds ends;
    Errand *next = nullptr;
    unsigned forks = 0; // of the process, when it was handed out
    Signals signals = Signals::of_the_call;
    sigset_t blocked{};  // by the task's thread
    FutexWord state = 0; // see elsewhere.cpp
};

// Suspends the task until a helper has made the call. False: nobody has, or will.
bool run_elsewhere(sched::Worker &worker, Errand &errand);

// call(): as the calling thread would make it; it may also do so.
template <class Call>
auto elsewhere(sched::Worker &worker, CallEnds ends, Call call) -> decltype(call()) {
    struct Made : Errand {
        Call *call;
        decltype((*call)()) result;
        int error;
    };
    Made made{};
    made.ends = ends;
    made.call = &call;
    made.make = [](Errand &errand) {
        auto &self = static_cast<Made &>(errand);
        self.result = (*self.call)();
        self.error = errno;
    };
    const int before = errno;
    if (!run_elsewhere(worker, made)) {
        errno = before;
        return call();
    }
    errno = made.result < 0 ? made.error : before;
    return made.result;
}

// The same for a function of libc's that says by any value, or by errno, how it ended, and that may
// ask for the thread's locale.
template <class Call>
auto function_elsewhere(sched::Worker &worker, CallEnds ends, Call call,
                        Signals signals = Signals::of_the_call) -> decltype(call()) {
    struct Made : Errand {
        Call *call;
        decltype((*call)()) result;
        int error;
        locale_t locale;
    };
    Made made{};
    made.ends = ends;
    made.signals = signals;
    made.call = &call;
    made.error = errno;
    made.locale = uselocale(nullptr);
    made.make = [](Errand &errand) {
        auto &self = static_cast<Made &>(errand);
        const locale_t own = uselocale(self.locale);
        errno = self.error;
        self.result = (*self.call)();
        self.error = errno;
        uselocale(own);
    };
    const int before = errno;
    const bool is_made = run_elsewhere(worker, made);
    errno = is_made ? made.error : before;
    return is_made ? made.result : call();
}

// In the child of fork(): the helpers are gone, and calls that they had are made anew.
void elsewhere_after_fork_in_child();

} // namespace sennit::libc
