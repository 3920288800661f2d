// SPDX-License-Identifier: Apache-2.0
// The end of a task. Its successors, its parent, its taskgroup and its team learn of it. Its memory
// is freed when nobody points to it any more.
#include "base/assert.h"
#include "task/depend.h"
#include "task/exclusion.h"
#include "task/lifecycle.h"
#include "trace/trace.h"

#include <utility>

namespace sennit::task {

void make_ready(sched::Worker *worker, Task &task, Then then) {
    SENNIT_ASSERT(task.state.step(TaskState::ready));
    trace::task_ready(task.trace_id);
    if (sched::Slot *slot = slot_in(worker, task.team)) {
        if (then == Then::next)
            worker->push_next(*slot, &task);
        else
            worker->push(*slot, &task);
    } else {
        sched::push_foreign(*task.team, &task);
    }
}

void make_ready_last(Task &task) {
    SENNIT_ASSERT(task.state.step(TaskState::ready));
    trace::task_ready(task.trace_id);
    sched::push_last(*task.team, &task);
}

void node_ready(sched::Worker *worker, DependNode &node, Then then) {
    if (node.waiter)
        node.waiter->signal();
    else
        make_ready(worker, *node.task, then);
}

void free_task(sched::Worker *worker, Task *task) {
    SENNIT_ASSERT(task->state.is(TaskState::completed));
    if (task->depend)
        drop_node(worker, task->depend);
    else
        release_block(worker, task);
}

// A child of `parent` has completed.
static void tell_parent(sched::Worker *worker, Task *parent) {
    if (worker && parent->home.load(std::memory_order_relaxed) == worker &&
        !parent->folded.load(std::memory_order_relaxed)) {
        --parent->spawned;
        return;
    }
    const std::int64_t left = drop_child(*parent);
    if (left == Task::kWaiting)
        parent->children_cell.signal();
    else if (left == Task::kEnded)
        free_task(worker, parent);
}

static void tell_group(Taskgroup *group) {
    if (!group)
        return;
    const std::int64_t left = group->count.fetch_sub(2, std::memory_order_acq_rel) - 2;
    SENNIT_ASSERT(left >= 0);
    if (left == 1)
        group->cell.signal();
}

bool last_reference(Task &task) {
    if (task.spawned == 0 && task.pending.load(std::memory_order_acquire) == 0)
        return true; // no child that could still touch the task
    const std::int64_t change = std::int64_t{task.spawned} * Task::kChild + Task::kEnded;
    task.folded.store(true, std::memory_order_relaxed);
    task.spawned = 0;
    const std::int64_t left = task.pending.fetch_add(change, std::memory_order_acq_rel) + change;
    SENNIT_ASSERT(counts_all_children(left));
    return left == Task::kEnded;
}

void release_depends(sched::Worker *worker, Task &task, Then then) {
    DependNode *node = task.depend;
    if (!node)
        return;
    if (node->mutexes)
        release_mutexes(worker, *node);
    release_successors(worker, *node, [&](DependNode &ready) {
        node_ready(worker, ready, then);
        then = Then::queue;
    });
}

// What is called at the completion of a spawned task is the last part of the task, and is run as
// its body was. It may bind events. It may also block. A thread that fulfils an event may be in the
// middle of what such a call would wait for, so it does not make the call itself.
static SENNIT_COLD bool calls_back(sched::Worker *worker, Task &task, Then then) {
    auto &spawn = *static_cast<SpawnPayload *>(task.payload());
    if (!spawn.done)
        return false;
    spawn.body = std::exchange(spawn.done, nullptr);
    spawn.arg = spawn.done_arg;
    task.flags &= ~(Task::kEvents | Task::kProfiled);
    task.events.store(1, std::memory_order_relaxed);
    make_ready(worker, task, then);
    return true;
}

// The body has returned and all events are fulfilled.
void complete(sched::Worker *worker, Task &task, Then then) {
    if (SENNIT_UNLIKELY(task.is(Task::kSpawned)) && calls_back(worker, task, then))
        return;
    SENNIT_ASSERT(task.state.step(TaskState::completed));
    trace::task_complete(task.trace_id);
    Task *parent = task.parent;
    Taskgroup *group = task.taskgroup;
    sched::Group *team = task.team;
    if (task.children_depend) {
        drop_table(worker, task.children_depend);
        task.children_depend = nullptr;
    }
    release_depends(worker, task, then);
    if (last_reference(task))
        free_task(worker, &task);
    if (parent)
        tell_parent(worker, parent);
    tell_group(group);
    // This comes last. As soon as it is counted, a barrier may end, and the team may be gone.
    if (sched::Slot *slot = slot_in(worker, team)) {
        SENNIT_ASSERT(slot->home()->worker.load(std::memory_order_relaxed) == worker);
        slot->count_finished();
    } else {
        team->visit();
        team->finished_elsewhere.fetch_add(1, std::memory_order_acq_rel);
        // All threads may be asleep at a barrier that can end now.
        sched::announce_work(*team);
        team->leave();
    }
}

void retire_implicit_slow(sched::Worker &worker, Task &task) {
    drop_table(&worker, task.children_depend);
    task.children_depend = nullptr;
}

} // namespace sennit::task
