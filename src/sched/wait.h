// SPDX-License-Identifier: Apache-2.0
// What a fiber waits for, as plain data. The hang report (src/watch) reads it from another thread,
// a debugger reads it in a stopped process. It lies in the waiting fiber's frame. Waits nest: a
// waiting task may call another one on top of itself.
#pragma once

#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::sched {

struct Slot;

enum class WaitFor : std::uint8_t {
    // kind         object                  who ends it
    nobody,      // -                       a docked thread: no task waits here
    children,    // Task *, the waiter      the last child
    taskgroup,   // Taskgroup *             the group's last task
    dependences, // DependNode *            the last predecessor
    barrier,     // Group *, the team       the last thread, or the team's last task
    resumption,  // sennit_wait * or null   sennit_task_resume
    events,      // Task *, an undeferred   the last event that its body has bound; null: a task
                 // one of the waiter's     that has ended, no fiber
    lock,        // omp::Mutex *            its holder
    time,        // -                       a timer
    turn,        // -                       the iteration before, in an ordered or doacross loop
    primitive,   // Primitive *             another thread or task, that unlocks or signals it
};

// A mutex, condition variable, ... of the program's or a library's own (src/pthread).
struct Primitive {
    const char *what; // a string literal: "pthread mutex"
    const void *address;
    const void *const *holder; // where the fiber is noted that holds it, or null: nobody knows
};

struct Wait {
    const WaitFor kind;
    const void *const object;
    Task *task = nullptr; // that waits
    const Slot *slot = nullptr;
    const Wait *outer = nullptr; // of the task under it on the same stack
    const void *frame = nullptr; // the caller's frames are above this address
};

} // namespace sennit::sched
