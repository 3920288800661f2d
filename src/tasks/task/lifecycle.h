// SPDX-License-Identifier: Apache-2.0
// The steps of a task's life, as its files take them from one another. For this room only.
#pragma once

#include "base/assert.h"
#include "tasks/task/task.h"

namespace sennit::task {

// ---- submit.cpp -----------------------------------------------------------------------------

// A new deferred task is counted where it will be waited for.
[[gnu::always_inline]] inline void count_in_team(sched::Worker &worker, Task &task) {
    if (task.taskgroup)
        task.taskgroup->count.fetch_add(2, std::memory_order_relaxed);
    worker.slot->count_created();
    task.team->note_tasks();
}
[[gnu::always_inline]] inline void count_child(sched::Worker &worker, Task &task) {
    Task *parent = task.parent;
    if (SENNIT_LIKELY(!parent->folded.load(std::memory_order_relaxed)))
        ++parent->spawned;
    else
        parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    count_in_team(worker, task);
}

// With free agents: does the task that makes `fresh` run on a worker that is no thread of its team?
// Then it is counted for the team here: the team does not see what the worker's slot counts.
bool made_by_guest(sched::Worker &worker, Task &fresh);
// The others that run tasks of any team; null: there are none.
Others *others();

// ---- depend.cpp -----------------------------------------------------------------------------

// Memory of a task, or of what belongs to one, from any thread; null: that has no worker.
void release_block(sched::Worker *worker, void *block);

// ---- execute.cpp ----------------------------------------------------------------------------

// From a queue (tasks/sched/client.h): run the body on the current stack. See execute.h, too.
void run_item(sched::Worker &worker, sched::Slot &slot, sched::Item *item);

// The same where there is no stack for it: back to the queue.
void put_back(sched::Worker &worker, sched::Slot &where, sched::Item *item);

void observed_end(sched::Worker &worker, Task &task); // the body has returned; see observer.h

// By which the trace knows what the task is: its label, else its function.
void *traced_entry(Task &task);

// ---- events.cpp -----------------------------------------------------------------------------

// The body of a task with events has returned, or was discarded: is the task complete? If not,
// whoever fulfils the last event completes it, maybe on another thread, and it may be gone by now.
bool all_events(sched::Worker &worker, Task &task);
// The creator of an undeferred task whose body has returned waits for what the body has bound.
void await_bound_events(sched::Worker &worker, Task &task);
// A task leaves all queues and stacks, until something outside makes it go on: see may_block().
void note_elsewhere();

// Before a completion that the body is not the last step of; see observer.h.
void observed_late_completion(Task &task);

// ---- complete.cpp ---------------------------------------------------------------------------

// What waited for its dependences, or for its mutexinoutset items, may run.
void make_ready(sched::Worker *worker, Task &task, Then then);
void make_ready_last(Task &task); // behind the others that are ready
void node_ready(sched::Worker *worker, DependNode &node, Then then);

// The end of a deferred task: releases its dependences, tells who waits for it and frees it.
void complete(sched::Worker *worker, Task &task, Then then);

// The same step by step, for a task that nobody else counts.
void release_depends(sched::Worker *worker, Task &task, Then then);
// True when no child is left; otherwise the last child frees it.
bool last_reference(Task &task);
void free_task(sched::Worker *worker, Task *task);

// A task that waits for its children, or has ended, has folded their count. So from then on no
// child may be counted out that was not counted in.
constexpr bool counts_all_children(std::int64_t pending) {
    return (pending & (Task::kWaiting | Task::kEnded)) == 0 || pending > 0;
}

// One child less; what is left of `pending`. acq_rel: the child's writes are visible after the
// taskwait; the last one may free the parent.
inline std::int64_t drop_child(Task &parent) {
    const std::int64_t left =
        parent.pending.fetch_sub(Task::kChild, std::memory_order_acq_rel) - Task::kChild;
    SENNIT_ASSERT(counts_all_children(left));
    return left;
}

// From now on the children are counted in `pending` alone: others than the task's worker may look.
inline void fold_children(Task &task) {
    task.folded.store(true, std::memory_order_relaxed);
    if (task.spawned != 0)
        task.pending.fetch_add(std::int64_t{task.spawned} * Task::kChild,
                               std::memory_order_relaxed);
    task.spawned = 0;
}

// This worker's slot in the task's team, or null.
inline sched::Slot *slot_in(sched::Worker *worker, const sched::Group *team) {
    return worker && worker->slot && worker->slot->group == team ? worker->slot : nullptr;
}

} // namespace sennit::task
