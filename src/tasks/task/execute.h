// SPDX-License-Identifier: Apache-2.0
// Runs the body of a deferred task. It is inlined into both callers: the one for tasks from a
// queue, and the one for a creator that runs its task itself. Tasks may be so short that one more
// frame would show.
#pragma once

#include "base/assert.h"
#include "tasks/task/depend.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/priorities.h"

namespace sennit::task {

namespace detail {
// While somebody looks on (observer.h). `begins` is false for the later parts of an untied task
// that the compiler has cut.
void observed_start(sched::Worker &worker, sched::Slot &slot, Task &task, bool begins);
// The body has returned.
void observed_return(sched::Worker &worker, Task &task, Then then);
// It has asked to be called again.
void run_again(sched::Worker &worker, Task &task);
} // namespace detail

// The body of a ready, deferred task is about to be called. False: the task waits for its
// mutexinoutset items.
[[gnu::always_inline]] inline bool begin_body(sched::Worker &worker, sched::Slot &slot,
                                              Task &task) {
    const bool begins = task.home.load(std::memory_order_relaxed) == nullptr;
    if (SENNIT_UNLIKELY(task.depend != nullptr) && begins) {
        if (task.depend->mutexes) {
            SENNIT_ASSERT(task.state.step(TaskState::excluded)); // it may be another's at once
            if (!take_mutexes(*task.depend))
                return false;
        }
        if (SENNIT_UNLIKELY(task.vertex != nullptr))
            vertex_starts(task);
    }
    if (observed::by(observed::kTrace | observed::kTool | observed::kCancellation |
                     observed::kAccounts))
        detail::observed_start(worker, slot, task, begins);
    worker.task = &task;
    worker.slot = &slot;
    task.home.store(&worker, std::memory_order_relaxed);
    SENNIT_ASSERT(task.state.step(TaskState::running) && &worker == sched::Worker::self());
    return true;
}

// The body has returned, on `worker`.
[[gnu::always_inline]] inline void end_body(sched::Worker &worker, Task &task, Then then) {
    SENNIT_ASSERT(worker.task == &task && &worker == sched::Worker::self());
    if (observed::by_anybody())
        detail::observed_return(worker, task, then);
    if (SENNIT_UNLIKELY(task.flags & (Task::kEvents | Task::kRequeued | Task::kProfiled))) {
        if (task.is(Task::kRequeued))
            return detail::run_again(worker, task);
        if (task.is(Task::kProfiled))
            task_ended(task);
        if (task.is(Task::kEvents)) {
            if (!all_events(worker, task))
                return;
            if (observed::by_anybody())
                observed_late_completion(task);
        }
    }
    complete(&worker, task, then);
}

// Run the body of a ready, deferred task on the current stack, which it does not leave.
[[gnu::always_inline]] inline void execute(sched::Worker &worker, sched::Slot &slot, Task &task,
                                           Then then) {
    if (!begin_body(worker, slot, task))
        return;
    task.invoke(task);
    end_body(worker, task, then);
}

} // namespace sennit::task
