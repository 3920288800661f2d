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

namespace sennit::libc {

// Once, while the library is loaded: helpers may use the processors of the calling thread.
void note_processors();

enum class CallEnds : std::uint8_t {
    by_itself,  // it ends whatever other tasks do: some helpers are enough for all
    by_another, // another task may have to end it, as for the opening of a named pipe: one helper
                // each
};

// Lives in the task's frame.
struct Errand {
    void (*make)(Errand &errand);
    CallEnds ends;
    Errand *next = nullptr;
    unsigned forks = 0;           // of the process, when it was handed out
    bool blocks_too_long = false; // the task's thread blocks SIGXFSZ
    FutexWord state = 0;          // see elsewhere.cpp
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

// In the child of fork(): the helpers are gone, and calls that they had are made anew.
void elsewhere_after_fork_in_child();

} // namespace sennit::libc
