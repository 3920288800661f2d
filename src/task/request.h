// SPDX-License-Identifier: Apache-2.0
// A task that a front door asks for (OpenMP 5.2, 12.5), and what becomes of it. The doors translate
// what their compiler says into a Request; whether the task waits in a queue, or its creator for
// it, is decided here, for all of them.
#pragma once

#include "task/task.h"

#include <alloca.h>
#include <cstddef>

namespace sennit::task {

struct Request {
    const Depend *depends = nullptr;
    int count = 0;
    bool deferred = true; // unless an if clause says no
    bool detach = false;  // it has an event
};

// Does its creator wait for the body? With if(0), and below a final task.
inline bool is_undeferred(const sched::Worker &worker, bool deferred) {
    return !deferred || worker.task->is(Task::kFinal);
}

// Does its creator call it at once, as an Included task? So it does with what is nothing but a
// body, where it waits for it anyhow, and where enough tasks are queued and none of this process
// suspends on an outside event: that would keep the creator from going on. Not while a tool looks
// on, which is to see the task that it would have been.
inline bool runs_in_place(sched::Worker &worker, const Request &request) {
    return request.count == 0 && !request.detach &&
           (is_undeferred(worker, request.deferred) || (throttled(worker) && !may_suspend()));
}

// Is there no need to make it, as it would be discarded? An event must be good for whoever fulfils
// it.
inline bool is_pointless(const sched::Worker &worker, bool detach) {
    return is_cancelled(*worker.task) && !detach;
}

// `task`, child of the caller's, waits for its turn; or, undeferred, for its dependences, and its
// body has run when this returns.
inline void start(sched::Worker &worker, Task &task, const Request &request) {
    if (SENNIT_UNLIKELY(is_undeferred(worker, request.deferred)))
        run_undeferred(worker, task, request.depends, request.count);
    else
        submit(worker, task, request.depends, request.count);
}

// An event that the task is not complete without: detach.
inline void attach_event(Task &task) {
    note_may_suspend();
    bind_events(task, 1);
}

} // namespace sennit::task

// The dependences of `given`, a door's view of what its compiler hands over, in our form: as
// task::Depend array[count] on the caller's stack. The view has size() and fill(task::Depend *).
#define SENNIT_READ_DEPENDENCES(array, count, given)                                               \
    const int count = (given).size();                                                              \
    auto *array = static_cast<::sennit::task::Depend *>(                                           \
        alloca(static_cast<std::size_t>(count + 1) * sizeof(::sennit::task::Depend)));             \
    (given).fill(array);
