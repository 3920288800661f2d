// SPDX-License-Identifier: Apache-2.0
// A fiber as the scheduler sees it: a stack with a flow of control on it, and what is saved while
// it is parked. src/fiber knows how stacks are mapped and switched.
#pragma once

#include "fiber/context.h"
#include "fiber/stack.h"
#include "sched/wait.h"

#include <atomic>

namespace sennit {
struct Task;
}

namespace sennit::sched {

class Worker;
struct Slot;

// A stack with a flow of control on it. Lives at the top of its own stack, but for a thread's root
// fiber, which lives in its Worker. Touched only by its home worker, except `next` while the fiber
// travels in an inbox.
struct Fiber {
    fiber::Context context;
    fiber::Stack stack;
    Worker *home = nullptr;
    Fiber *next = nullptr;
    // Saved while parked:
    Task *task = nullptr;
    Slot *slot = nullptr;
    void *exceptions[2] = {nullptr, nullptr}; // __cxa_get_globals() of the C++ runtime
    // What the code on it waits for, innermost first; for reports.
    std::atomic<const Wait *> waits{nullptr};
    Fiber *listed_next = nullptr; // of its home's fibers
    Fiber **listed_at = nullptr;
};

} // namespace sennit::sched
