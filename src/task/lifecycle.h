// SPDX-License-Identifier: Apache-2.0
// The steps of a task's life (task.cpp) that waiting, too, has to take (waits.cpp). For this room
// only.
#pragma once

#include "task/task.h"

namespace sennit::task {

enum class Then { queue, next }; // where the first ready successor goes

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
// So much for having counted it in the slot. Its children are for the team.
bool made_by_guest(sched::Worker &worker, Task &fresh);

// From a queue: its body is run, here and now.
void run_node(sched::Worker &worker, sched::Slot &slot, sched::Node *node);

// What waited for its dependences, or for its mutexinoutset items, may run.
void node_ready(sched::Worker *worker, DependNode &node, Then then);

// The body of a task with events has returned, or was discarded: is the task complete? If not,
// whoever fulfils the last event completes it, maybe on another thread, and it may be gone by now.
bool all_events(sched::Worker &worker, Task &task);

// The end of a deferred task: releases its dependences, tells who waits for it and frees it.
void complete(sched::Worker *worker, Task &task, Then then);

// The same step by step, for a task that nobody else counts.
void release_depends(sched::Worker *worker, Task &task, Then then);
// True when no child is left; otherwise the last child frees it.
bool last_reference(Task &task);
void free_task(sched::Worker *worker, Task *task);

// With somebody looking on (observer.h).
void observed_end(sched::Worker &worker, Task &task);
void observed_late_completion(Task &task);

} // namespace sennit::task
