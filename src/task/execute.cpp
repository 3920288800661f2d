// SPDX-License-Identifier: Apache-2.0
#include "task/execute.h"

#include "base/assert.h"
#include "poll/poll.h"
#include "poll/time_after.h"
#include "task/accounts.h"
#include "task/observer.h"
#include "trace/trace.h"

#include <cstdlib>
#include <new>

namespace sennit::task {

SENNIT_COLD void detail::observed_start(sched::Worker &worker, sched::Slot &slot, Task &task,
                                        bool begins) {
    trace::task_start(task.trace_id, task.entry);
    worker.slot = &slot;
    if (observed::by(observed::kAccounts))
        begin_work(worker, task);
    if (Observer *observer = task::observer())
        observer->starts(worker, task, worker.task);
    if (begins && !task.is(Task::kRunsAlways) && is_cancelled(task)) {
        task.flags |= Task::kDiscarded;
        if (Observer *observer = task::observer())
            observer->discarded(task);
    }
}

// Is the function still to be called that runs at its completion?
static bool calls_back_later(Task &task) {
    return task.is(Task::kSpawned) && static_cast<const SpawnPayload *>(task.payload())->done;
}

// The body has returned.
SENNIT_COLD void observed_end(sched::Worker &worker, Task &task) {
    using End = Observer::End;
    trace::task_end(task.trace_id);
    Observer *observer = task::observer();
    if (!observer)
        return;
    End how = is_cancelled(task) ? End::cancel : End::complete;
    if (task.is(Task::kRequeued) || calls_back_later(task)) // the tool sees one task, and one end
        how = End::pause;
    else if (!task.is(Task::kDiscarded) && task.is(Task::kEvents) &&
             task.events.load(std::memory_order_acquire) > 1 &&
             task.tool->decide(ToolRecord::Detached::yes))
        how = End::detach;
    observer->ends(worker, task, how);
}

// A task that its creator has called in place has the creator's account. The creator goes on with
// it.
SENNIT_COLD void detail::observed_return(sched::Worker &worker, Task &task, Then then) {
    if (observed::by(observed::kAccounts) && (then == Then::next || !slot_in(&worker, task.team)))
        rest_from_work(worker);
    observed_end(worker, task);
}

void run_node(sched::Worker &worker, sched::Slot &slot, sched::Node *node) {
    execute(worker, slot, *static_cast<Task *>(node), Then::next);
}

void run_beyond_team(sched::Worker &worker, sched::Slot &guest, Task &task) {
    sched::Slot *const slot = worker.slot;
    Task *const self = worker.task;
    execute(worker, guest, task, Then::queue);
    worker.slot = slot;
    worker.task = self;
    if (observed::by(observed::kAccounts))
        go_on_working(worker);
}

// ---- and again ------------------------------------------------------------------------------

void requeue(Task &task, Again when, std::uint64_t ns) {
    SENNIT_ASSERT(task.state.is(TaskState::running));
    if (when == Again::after_time || when == Again::after_events)
        note_elsewhere();
    task.flags |= Task::kRequeued;
    task.again = static_cast<std::uint8_t>(when);
    task.again_after_ns = ns;
}

namespace {

struct AgainTimer : poll::Timer {
    Task *task;
    static void expire(poll::Timer &timer) {
        auto &self = static_cast<AgainTimer &>(timer);
        make_ready(nullptr, *self.task, Then::queue);
        std::free(&self);
    }
};

} // namespace

void detail::run_again(sched::Worker &worker, Task &task) {
    const auto when = static_cast<Again>(task.again);
    SENNIT_ASSERT(when == Again::at_once || when == Again::after_others ||
                  task.state.step(TaskState::paused));
    if (when == Again::after_events) {
        // kRequeued stays. It tells whoever fulfils the last event what to do.
        fold_children(task);
        if (task.events.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        task.events.store(1, std::memory_order_relaxed);
    }
    task.flags &= ~Task::kRequeued;
    if (when == Again::after_time) {
        if (void *memory = std::malloc(sizeof(AgainTimer))) {
            auto *timer = new (memory) AgainTimer;
            timer->deadline_ns = poll::time_after(poll::now_ns(), task.again_after_ns);
            timer->fire = AgainTimer::expire;
            timer->task = &task;
            poll::start_timer(*timer);
            return;
        }
    }
    if (when == Again::after_others)
        make_ready_last(task);
    else
        make_ready(&worker, task, Then::queue);
}

} // namespace sennit::task
