// SPDX-License-Identifier: Apache-2.0
// The states of an explicit task, and the steps between them; checked builds follow them.
//
//     created ──► ready ──► running ──► completed
//        │          ▲ │        │ ▲
//        │          │ ▼        │ └──► suspended
//        └──────► excluded     ├────► paused ──► ready
//                              └────► ended ───► completed, ready, suspended
//
// created: its creator alone knows it, or predecessors that have not completed. excluded: wants its
// mutexinoutset items; from `created` where its creator runs it at once. suspended: waits in
// sennit_task_suspend, its body is on a parked fiber. paused: its body has returned and asks to be
// called again later, or was cut in parts (straight to ready). ended: its body has returned,
// external events are left; the last thing of some is a callback, which may wait. completed:
// dependences are released; the memory stays until the last child and the last successor have
// forgotten it.
#pragma once

#include "base/states.h"

#include <cstdint>

namespace sennit {

enum class TaskState : std::uint8_t {
    created,
    excluded,
    ready,
    running,
    suspended,
    paused,
    ended,
    completed,
};

constexpr unsigned after(TaskState state) {
    using enum TaskState;
    switch (state) {
    case created:
        return states(excluded, ready, running);
    case excluded:
        return states(ready, running);
    case ready:
        return states(excluded, running);
    case running:
        return states(suspended, paused, ready, ended, completed);
    case suspended:
        return states(running);
    case paused:
        return states(ready);
    case ended:
        return states(completed, ready, suspended);
    case completed:
        break;
    }
    return 0;
}

using TaskStates = States<TaskState, after>;

} // namespace sennit
