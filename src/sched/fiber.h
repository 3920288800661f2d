// SPDX-License-Identifier: Apache-2.0
// A fiber as the scheduler sees it: a stack with a flow of control on it, and what is saved while
// it is parked. src/fiber knows how stacks are mapped and switched.
#pragma once

#include "base/states.h"
#include "fiber/context.h"
#include "fiber/stack.h"
#include "sched/wait.h"

#include <atomic>
#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::sched {

class Worker;
struct Slot;

// Checked builds follow them. A fiber is
//     cached    without work, in the cache of its worker
//     taken     about to be switched to for the first time since, with a task to run
//     running   the flow of control of its thread
//     parked    registered with what it waits for, or about to be, and still on its thread until
//               that switches to another one
//     ready     in the inbox or the list of resumed fibers of its worker
enum class FiberState : std::uint8_t { cached, taken, running, parked, ready };
constexpr unsigned after(FiberState state) {
    using enum FiberState;
    switch (state) {
    case cached:
        return states(taken);
    case taken:
        return states(running);
    case running:
        return states(parked, ready, cached); // ready: it yields; cached: it found nothing to do
    case parked:
        return states(ready, running); // running: what it waits for holds, or was taken back
    case ready:
        return states(running);
    }
    return 0;
}

// A stack with a flow of control on it. Lives at the top of its own stack, but for a thread's root
// fiber, which lives in its Worker. Touched only by its home worker, except `next` while the fiber
// travels in an inbox.
struct Fiber {
    fiber::Context context;
    fiber::Stack stack;
    Worker *home = nullptr;
    int thread = 0; // the kernel thread that it was made on, and never leaves
    Fiber *next = nullptr;
    // Saved while parked:
    Task *task = nullptr;
    Slot *slot = nullptr;
    void *exceptions[2] = {nullptr, nullptr}; // __cxa_get_globals() of the C++ runtime
    std::uint64_t worked_ns = 0; // until it was last left; counted while observed::kWorkTime is set
    // What the code on it waits for, innermost first; for reports.
    std::atomic<const Wait *> waits{nullptr};
    Fiber *listed_next = nullptr; // of its home's fibers
    Fiber **listed_at = nullptr;
    [[no_unique_address]] States<FiberState, after> state{FiberState::cached};
};

} // namespace sennit::sched
