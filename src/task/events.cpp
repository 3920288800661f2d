// SPDX-License-Identifier: Apache-2.0
// External events (detach, sennit.h): a task is complete when its body has returned and all of its
// events are fulfilled, whichever comes last.
//
// The creator of an undeferred task goes on when the task's structured block is complete (OpenMP
// 5.2, 1.2.5), and what its body has bound to it belongs to the block: a message is received when
// the task is over. The event of `detach` does not: the creator may fulfil it.
#include "base/assert.h"
#include "poll/poll.h"
#include "task/lifecycle.h"
#include "task/observer.h"

namespace sennit::task {

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
    worker.event_lock.lock();
    worker.count_event_task(1);
    task.listed_next = worker.event_tasks;
    task.listed_at = &worker.event_tasks;
    if (worker.event_tasks)
        worker.event_tasks->listed_at = &task.listed_next;
    worker.event_tasks = &task;
    worker.event_lock.unlock();
}

static void unlist_waiting(Task &task) {
    if (!task.is(Task::kListed))
        return;
    sched::Worker &worker = *task.home.load(std::memory_order_relaxed);
    worker.event_lock.lock();
    worker.count_event_task(-1);
    *task.listed_at = task.listed_next;
    if (task.listed_next)
        task.listed_next->listed_at = task.listed_at;
    worker.event_lock.unlock();
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

// Who brings the bound ones to zero while kHoldsCreator is set signals: as they are in one word,
// one of the two sides sees the other. It touches the task no more after the signal.
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
