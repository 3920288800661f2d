// SPDX-License-Identifier: Apache-2.0
#include "tasks/task/execute.h"

#include "base/assert.h"
#include "tasks/poll/poll.h"
#include "tasks/task/accounts.h"
#include "tasks/task/depend.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/others.h"
#include "tasks/trace/trace.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace sennit::task {

SENNIT_COLD void *traced_entry(Task &task) {
    const char *const label = trace::on() && task.is(Task::kSpawned)
                                  ? static_cast<const SpawnPayload *>(task.payload())->label
                                  : "";
    return *label ? trace::name_label(label) : task.entry;
}

SENNIT_COLD void detail::observed_start(sched::Worker &worker, sched::Slot &slot, Task &task,
                                        bool begins) {
    trace::task_start(task.trace_id, traced_entry(task));
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

void run_item(sched::Worker &worker, sched::Slot &slot, sched::Item *item) {
    execute(worker, slot, *static_cast<Task *>(item), Then::next);
}

void put_back(sched::Worker &worker, sched::Slot &where, sched::Item *item) {
    auto &task = *static_cast<Task *>(item);
    Others *const they = others();
    const bool offered = they && task.is(Task::kOffered);
    if (they)
        they->let_go(task);
    worker.push(where, item);
    if (offered) // the worker's thread keeps the team
        they->need(worker, *where.group);
}

void run_beyond_team(sched::Worker &worker, sched::Slot &guest, Task &task) {
    sched::Slot *const slot = worker.slot;
    Task *const self = worker.task;
    execute(worker, guest, task, Then::next); // one that it releases: the caller looks for it
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

// The end of a task. Its successors, its parent, its taskgroup and its team learn of it. Its memory
// is freed when nobody points to it any more.

static void push_ready(sched::Worker *worker, Task &task, Then then) {
    if (sched::Slot *slot = slot_in(worker, task.team)) {
        if (then == Then::next)
            worker->push_next(*slot, &task);
        else
            worker->push(*slot, &task);
    } else {
        sched::push_foreign(*task.team, &task);
    }
}

// With a trace, or free agents. The next task of a worker is for itself; of any other that may
// leave its team, they are told.
static SENNIT_COLD void observed_ready(sched::Worker *worker, Task &task, Then then) {
    trace::task_ready(task.trace_id);
    Others *const they = task.is(Task::kOffered) && then == Then::queue ? others() : nullptr;
    if (!they)
        return push_ready(worker, task, then);
    sched::Group &team = *task.team; // the task may be gone after the push
    team.visit();
    push_ready(worker, task, then);
    they->tell(sched::Worker::self(), team);
    team.leave();
}

void make_ready(sched::Worker *worker, Task &task, Then then) {
    SENNIT_ASSERT(task.state.step(TaskState::ready));
    if (observed::by(observed::kTrace | observed::kFreeAgents))
        return observed_ready(worker, task, then);
    push_ready(worker, task, then);
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
    const void *const entry = task.entry; // the last child may free the task
    const std::int64_t left = task.pending.fetch_add(change, std::memory_order_acq_rel) + change;
    SENNIT_ASSERT(counts_all_children(left));
    if (left == Task::kEnded)
        return true;
    if (sched::rules().propagates())
        note_left_children(entry);
    return false;
}

void release_depends(sched::Worker *worker, Task &task, Then then) {
    DependNode *node = task.depend;
    if (!node)
        return;
    if (node->mutexes)
        release_mutexes(worker, *node);
    // They come latest first. The one that was created first goes first, and the others behind it
    // in that order: programs create tasks in the order in which their data lie, so what a thread
    // begins is mostly near to what it has just ended. Nobody else knows of the one held back.
    DependNode *first = nullptr;
    release_successors(worker, *node, [&](DependNode &ready) {
        if (first)
            node_ready(worker, *first, Then::queue);
        first = &ready;
    });
    if (first)
        node_ready(worker, *first, then);
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

// External events (detach, sennit.h): a task is complete when its body has returned and all of its
// events are fulfilled, whichever comes last.
//
// The creator of an undeferred task goes on when the task's structured block is complete (OpenMP
// 5.2, 1.2.5), and what its body has bound to it belongs to the block: a message is received when
// the task is over. The event of `detach` does not: the creator may fulfil it.

static void bind(Task &task, std::int64_t more) {
    if (!task.is(Task::kEvents)) { // nobody can have fulfilled one
        task.flags |= Task::kEvents;
        task.events.store(1 + more, std::memory_order_relaxed);
    } else {
        task.events.fetch_add(more, std::memory_order_relaxed);
    }
}
void bind_events(Task &task, std::int64_t count) {
    bind(task, count * Task::kBoundEvent);
}
void bind_detach_event(Task &task) {
    bind(task, 1);
}

// Subtract `fulfilled`. Returns what remains. A thread that finds only its own rest is the last
// one, and nobody will look again, so it need not write. Acquire pairs with the release of the
// threads before.
static std::int64_t take(Task &task, std::int64_t fulfilled) {
    if (task.events.load(std::memory_order_acquire) == fulfilled)
        return 0;
    const std::int64_t before = task.events.fetch_sub(fulfilled, std::memory_order_acq_rel);
    SENNIT_ASSERT(before >= fulfilled); // none is fulfilled twice
    return before - fulfilled;
}
static bool is_last(Task &task, std::int64_t fulfilled) {
    return take(task, fulfilled) == 0;
}

// ---- the body has returned ------------------------------------------------------------------

// Has a task ever been on no stack and in no queue, to be called again by an event or a timer? Once
// true, this stays true: it is rare, and may happen again. has_nothing_else() knows the tasks of
// this kind that have ended.
static std::atomic<bool> g_elsewhere{false};

void note_elsewhere() {
    g_elsewhere.store(true, std::memory_order_relaxed);
}

// A policy that tells senders who waits for them wants to know of each wait.
bool may_block(const sched::Worker &worker) {
    return !sched::rules().tells && worker.has_nothing_else() &&
           !g_elsewhere.load(std::memory_order_relaxed);
}

// Tasks that have ended and wait for events are on no stack. A report finds them only by a list.
static void list_waiting(sched::Worker &worker, Task &task) {
    task.flags |= Task::kListed;
    worker.events.lock.lock();
    worker.events.count(1);
    task.listed_next = worker.events.first;
    task.listed_at = &worker.events.first;
    if (worker.events.first)
        worker.events.first->listed_at = &task.listed_next;
    worker.events.first = &task;
    worker.events.lock.unlock();
}

static void unlist_waiting(Task &task) {
    if (!task.is(Task::kListed))
        return;
    sched::Worker &worker = *task.home.load(std::memory_order_relaxed);
    worker.events.lock.lock();
    worker.events.count(-1);
    *task.listed_at = task.listed_next;
    if (task.listed_next)
        task.listed_next->listed_at = task.listed_at;
    worker.events.lock.unlock();
    task.flags &= ~Task::kListed;
}

bool all_events(sched::Worker &worker, Task &task) {
    SENNIT_ASSERT(task.state.step(TaskState::ended));
    fold_children(task); // the other thread must not meet our unfolded count
    if (SENNIT_LIKELY(!task.is(Task::kDiscarded))) {
        if (task.events.load(std::memory_order_acquire) == 1)
            return true;
        list_waiting(worker, task); // before others can complete it
        if (!is_last(task, 1))
            return false;
        unlist_waiting(task);
        return true;
    }
    // The event of a discarded task may never come, so nobody waits for it. Until it comes, it
    // counts as a child, and so keeps the memory.
    task.pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    if (is_last(task, 1))
        task.pending.fetch_sub(Task::kChild, std::memory_order_relaxed);
    return true;
}

// The thread that brings the bound ones to zero while kHoldsCreator is set signals: as they are in
// one word, one of the two sides sees the other. It touches the task no more after the signal.
SENNIT_COLD void await_bound_events(sched::Worker &worker, Task &task) {
    if (task.events.load(std::memory_order_acquire) < Task::kBoundEvent)
        return;
    task.children_cell.reset(); // nobody else waits for the children of a task that has ended
    if (task.events.fetch_add(Task::kHoldsCreator, std::memory_order_acq_rel) >=
        Task::kBoundEvent) {
        sched::CellCondition condition(task.children_cell, sched::WaitFor::events, &task);
        worker.wait(condition);
    }
    task.events.fetch_sub(Task::kHoldsCreator, std::memory_order_relaxed);
}

static bool lets_creator_go(std::int64_t left, std::int64_t fulfilled) {
    return (left & Task::kHoldsCreator) != 0 && fulfilled >= Task::kBoundEvent &&
           (left & ~Task::kHoldsCreator) < Task::kBoundEvent;
}

// ---- an event is fulfilled ------------------------------------------------------------------

// Called before a completion that is not the last step of the task's body.
SENNIT_COLD void observed_late_completion(Task &task) {
    if (Observer *observer = task::observer();
        observer &&
        task.tool->detached.load(std::memory_order_relaxed) == ToolRecord::Detached::yes)
        observer->fulfilled(task, true);
}

// Called before events are fulfilled. If they are the last, and the body is still at work, a tool
// is told here.
static SENNIT_COLD void observed_fulfilment(Task &task, std::int64_t fulfilled) {
    if (Observer *observer = task::observer();
        observer && task.events.load(std::memory_order_acquire) == fulfilled + 1 &&
        task.tool->decide(ToolRecord::Detached::early))
        observer->fulfilled(task, false);
}

static void fulfil(Task &task, std::int64_t fulfilled, Then then) {
    if (observed::by_anybody())
        observed_fulfilment(task, fulfilled);
    if (const std::int64_t left = take(task, fulfilled)) {
        if (SENNIT_UNLIKELY(lets_creator_go(left, fulfilled)))
            task.children_cell.signal();
        return;
    }
    if (task.is(Task::kRequeued)) {
        task.flags &= ~Task::kRequeued;
        task.events.store(1, std::memory_order_relaxed);
        make_ready(sched::Worker::self(), task, Then::queue);
    } else if (task.is(Task::kDiscarded)) {
        if (drop_child(task) == Task::kEnded)
            free_task(sched::Worker::self(), &task);
    } else {
        unlist_waiting(task);
        if (observed::by_anybody())
            observed_late_completion(task);
        complete(sched::Worker::self(), task, then);
    }
}

void fulfil_events(Task &task, std::int64_t count, Then then) {
    fulfil(task, count * Task::kBoundEvent, then);
}
void fulfil_detach_event(Task &task) {
    fulfil(task, 1, Then::queue);
}

void fulfil_last(Task &task) {
    const sched::Worker *const worker = sched::Worker::self();
    const bool looks = worker && poll::caller_looks(worker->current());
    fulfil_events(task, 1, looks ? Then::next : Then::queue);
}

} // namespace sennit::task
