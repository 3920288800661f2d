// SPDX-License-Identifier: Apache-2.0
// Waiting: undeferred tasks, taskwait, taskgroup, suspension (OpenMP 5.2, 12.5.2, 15.4, 15.5).
#include "base/assert.h"
#include "tasks/task/accounts.h"
#include "tasks/task/depend.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/others.h"
#include "tasks/task/roaming.h"
#include "tasks/trace/trace.h"

#include <new>
#include <optional>
#include <utility>

namespace sennit::task {

// ---- undeferred -----------------------------------------------------------------------------

namespace {

// mutexinoutset: an undeferred task waits for its items on its creator's stack.
void wait_mutexes(sched::Worker &worker, DependNode &node) {
    if (!node.mutexes)
        return;
    sched::WaitCell cell;
    node.waiter = &cell;
    if (take_mutexes(node))
        return;
    sched::CellCondition condition(cell, sched::WaitFor::dependences, &node);
    worker.wait(condition);
}

// A node for `self`, or for a waiter without a task, behind what comes before it.
DependNode *wait_predecessors(sched::Worker &worker, Task *self, const Depend *depends, int count) {
    sched::WaitCell cell;
    DependNode *node = make_node(worker, self);
    node->waiter = &cell;
    if (!add_depends(worker, *worker.task, *node, depends, count)) {
        sched::CellCondition condition(cell, sched::WaitFor::dependences, node);
        worker.wait(condition);
    }
    return node;
}

} // namespace

void wait_depends(sched::Worker &worker, Task *self, const Depend *depends, int count) {
    if (count == 0)
        return;
    DependNode *node = wait_predecessors(worker, self, depends, count);
    if (self) {
        self->depend = node;
        wait_mutexes(worker, *node);
        return;
    }
    release_successors(&worker, *node,
                       [&](DependNode &ready) { node_ready(&worker, ready, Then::queue); });
    drop_node(&worker, node);
}

void wait_depends_of_next(sched::Worker &worker, const Depend *depends, int count) {
    if (count == 0)
        return;
    Task &creator = *worker.task;
    keep_waited(creator, wait_predecessors(worker, nullptr, depends, count));
    creator.flags ^= Task::kOddWaits;
}

// There is no scheduling point between the wait and the begin, and the node belongs to its creator.
// So it is the node of the last wait.
void begin_waited_slow(sched::Worker &worker, Task &task) {
    const Task &creator = *worker.task;
    SENNIT_ASSERT(task.parent == &creator && !task.depend);
    if (((task.flags ^ creator.flags) & Task::kOddWaits) == 0)
        return; // made after the wait
    DependNode *node = take_waited(*worker.task);
    if (!node)
        return;
    node->task = &task; // whose memory stays with the node's from now on
    task.depend = node;
    wait_mutexes(worker, *node);
}

void run_undeferred(sched::Worker &worker, Task &task, const Depend *depends, int count) {
    task.flags |= Task::kUndeferred;
    if (count > 0) {
        if (Observer *observer = task::observer())
            observer->created(worker, task, depends, count);
        wait_depends(worker, &task, depends, count);
    }
    begin_undeferred(worker, task);
    task.invoke(task);
    end_undeferred(worker, task);
}

Task *detail::make_spare(sched::Worker &worker) {
    Task *task = allocate(worker, 0);
    task->home.store(&worker, std::memory_order_relaxed);
    return task;
}

SENNIT_COLD void detail::observed_undeferred_begin(sched::Worker &worker, Task &task) {
    if (!observed::by_lookers_on())
        return;
    task.flags |= Task::kObserved;
    trace::task_create(task.trace_id, task.entry, task.parent->trace_id);
    trace::task_start(task.trace_id, task.entry);
    if (Observer *observer = task::observer()) {
        if (!task.tool->created)
            observer->created(worker, task, nullptr, 0);
        observer->starts(worker, task, task.parent);
    }
}

SENNIT_COLD void detail::observed_included_begin(sched::Worker &worker, Task &task) {
    if (observed::by(observed::kAccounts))
        inherit_account(task, *task.parent);
    if (task::observer()) // made for another task
        new (task.tool) ToolRecord;
    observed_undeferred_begin(worker, task);
}

namespace {

// What a task waits for, if its worker may run it: beyond its team only what may leave that.
class Awaited final : public sched::Sought {
  public:
    explicit Awaited(sched::Condition &condition)
        : condition_(condition), team_(*condition.task->team),
          beyond_team_(condition.slot->group != &team_) {}
    bool is(const sched::Item *item) const override {
        return (!beyond_team_ || static_cast<const Task *>(item)->is(Task::kOffered)) &&
               condition_.accepts(item);
    }
    sched::Item *take() const { return team_.take_any(*this); }

  private:
    sched::Condition &condition_;
    sched::Group &team_;
    const bool beyond_team_;
};

class ChildrenCondition final : public sched::Condition {
  public:
    explicit ChildrenCondition(Task &task)
        : Condition(sched::WaitFor::children, &task), task_(task) {
        bury = Bury::accepted;
    }

    bool accepts(const sched::Item *item) override {
        return static_cast<const Task *>(item)->parent == &task_;
    }
    sched::Item *take_accepted() override { return Awaited(*this).take(); }
    bool done() override {
        const std::int64_t elsewhere = task_.pending.load(std::memory_order_acquire) / Task::kChild;
        SENNIT_ASSERT(elsewhere + task_.spawned >= 0);
        return elsewhere + task_.spawned == 0;
    }
    bool arm(sched::Fiber *fiber) override {
        was_folded_ = task_.folded.load(std::memory_order_relaxed);
        task_.children_cell.reset();
        task_.children_cell.arm(fiber);
        task_.folded.store(true, std::memory_order_relaxed);
        const std::int64_t change = std::int64_t{task_.spawned} * Task::kChild + Task::kWaiting;
        task_.spawned = 0;
        armed_ = true;
        // acq_rel: the thread that brings the count to zero after this sees kWaiting and the armed
        // cell.
        if (task_.pending.fetch_add(change, std::memory_order_acq_rel) + change == Task::kWaiting) {
            withdraw();
            return false;
        }
        return true;
    }
    bool disarm(sched::Fiber *) override {
        const std::int64_t before =
            task_.pending.fetch_sub(Task::kWaiting, std::memory_order_acq_rel);
        if (before == Task::kWaiting) { // the signal is under way
            task_.pending.fetch_add(Task::kWaiting, std::memory_order_relaxed);
            return false;
        }
        armed_ = false;
        task_.folded.store(was_folded_, std::memory_order_relaxed);
        return true;
    }
    void finish() {
        if (armed_)
            withdraw();
    }

  private:
    void withdraw() {
        task_.pending.fetch_sub(Task::kWaiting, std::memory_order_relaxed);
        task_.folded.store(was_folded_, std::memory_order_relaxed);
        armed_ = false;
    }
    Task &task_;
    bool armed_ = false;
    bool was_folded_ = false;
};

class GroupCondition final : public sched::Condition {
  public:
    explicit GroupCondition(Taskgroup &group)
        : Condition(sched::WaitFor::taskgroup, &group), group_(group) {
        bury = Bury::accepted;
    }

    bool accepts(const sched::Item *item) override {
        return static_cast<const Task *>(item)->taskgroup == &group_;
    }
    sched::Item *take_accepted() override { return Awaited(*this).take(); }
    bool done() override { return group_.count.load(std::memory_order_acquire) == 0; }
    bool arm(sched::Fiber *fiber) override {
        group_.cell.reset();
        group_.cell.arm(fiber);
        armed_ = true;
        if (group_.count.fetch_add(1, std::memory_order_acq_rel) == 0) {
            finish();
            return false;
        }
        return true;
    }
    bool disarm(sched::Fiber *) override {
        if (group_.count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            group_.count.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        armed_ = false;
        return true;
    }
    void finish() {
        if (armed_) {
            [[maybe_unused]] const std::int64_t before =
                group_.count.fetch_sub(1, std::memory_order_relaxed);
            SENNIT_ASSERT(before == 1); // the tasks have ended
        }
        armed_ = false;
    }

  private:
    Taskgroup &group_;
    bool armed_ = false;
};

} // namespace

// The structured block is over, so the creator goes on. The event of `detach` is left (or the
// creator has only run a deferred task ahead of its time), so the task is not complete. From now on
// others wait for it as for a deferred task.
static bool outlives_its_block(sched::Worker &worker, Task &task) {
    if (SENNIT_LIKELY(!task.is(Task::kEvents)) || task.events.load(std::memory_order_acquire) == 1)
        return false;
    task.flags &= ~Task::kUndeferred; // before others can complete it
    if (task.is(Task::kPiece)) {      // of its parent, which still counts: see submit_sibling
        task.parent = task.parent->parent;
        task.parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
        count_in_team(worker, task);
    } else {
        count_child(worker, task);
    }
    if (observed::by(observed::kFreeAgents))
        made_by_guest(worker, task);
    if (all_events(worker, task)) {
        if (observed::by_anybody())
            observed_late_completion(task);
        complete(&worker, task, Then::queue);
    }
    return true;
}

void detail::end_undeferred_slow(sched::Worker &worker, Task &task) {
    observed_end(worker, task);
    worker.task = task.parent;
    if (task.is(Task::kEvents) && !task.is(Task::kAhead))
        await_bound_events(worker, task);
    if (outlives_its_block(worker, task))
        return;
    if (task.is(Task::kEvents) && observed::by_anybody())
        observed_late_completion(task);
    if (task.children_depend) {
        drop_table(&worker, task.children_depend);
        task.children_depend = nullptr;
    }
    SENNIT_ASSERT(task.state.step(TaskState::completed));
    release_depends(&worker, task, Then::queue);
    trace::task_complete(task.trace_id);
    if (last_reference(task))
        free_task(&worker, &task);
}

// A worker that is no thread of the task's team does not look into the queues of that team by
// itself. What becomes ready once it has looked is for others.
static SENNIT_COLD void help_beyond_team(sched::Worker &worker, sched::Condition &condition) {
    if (worker.slot->group == worker.task->team)
        return;
    condition.beyond_team = true;
    while (!condition.done() && others()->help(worker, condition))
        ;
}

void wait_children(sched::Worker &worker) {
    Task &task = *worker.task;
    if (task.spawned == 0 && task.pending.load(std::memory_order_acquire) == 0)
        return;
    ChildrenCondition condition(task);
    if (observed::by(observed::kFreeAgents))
        help_beyond_team(worker, condition);
    worker.wait(condition);
    condition.finish();
}

void begin_taskgroup(sched::Worker &worker, Taskgroup &group) {
    group.outer = worker.task->taskgroup;
    worker.task->taskgroup = &group;
}

void end_taskgroup(sched::Worker &worker) {
    Taskgroup &group = *worker.task->taskgroup;
    if (group.count.load(std::memory_order_acquire) != 0) {
        GroupCondition condition(group);
        if (observed::by(observed::kFreeAgents))
            help_beyond_team(worker, condition);
        worker.wait(condition);
        condition.finish();
    }
    worker.task->taskgroup = group.outer;
}

void suspend(sched::Worker &worker, const sennit_wait *why) {
    Task &task = *worker.task;
    if (!task.block_cell.signalled()) {
        if (observed::by(observed::kTrace | observed::kRoaming)) {
            if (roaming::suspend(worker, task, why)) // it goes on, on another thread perhaps
                return task.block_cell.reset();
            trace::task_suspend(task.trace_id);
        }
        worker.suspended.begin();
        if (Observer *observer = task::observer())
            observer->suspends(worker);
        sched::CellCondition condition(task.block_cell, sched::WaitFor::resumption, why);
        SENNIT_ASSERT(!task.is_explicit() || task.state.step(TaskState::suspended));
        worker.wait(condition);
        SENNIT_ASSERT(worker.task == &task);
        SENNIT_ASSERT(!task.is_explicit() || task.state.step(TaskState::running));
        if (Observer *observer = task::observer())
            observer->resumes(worker, task);
        trace::task_resume(task.trace_id);
        worker.suspended.end();
    }
    task.block_cell.reset();
}

void resume(Task &task) {
    SENNIT_ASSERT(!task.state.is(TaskState::completed));
    if (observed::by(observed::kTrace | observed::kRoaming))
        return roaming::resume(task);
    task.block_cell.signal();
}

} // namespace sennit::task
