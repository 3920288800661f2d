// SPDX-License-Identifier: Apache-2.0
#include "task/task.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/message.h"
#include "program/imports.h"
#include "task/depend.h"
#include "task/exclusion.h"
#include "task/lifecycle.h"
#include "task/observer.h"
#include "task/priorities.h"
#include "trace/trace.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace sennit {
namespace task {
namespace detail {
std::atomic<bool> g_may_suspend{false};
std::uint32_t g_throttle = 256;
std::atomic<bool> g_lone_at_once{true};
} // namespace detail

// This worker's slot in the task's team, or null.
static sched::Slot *slot_in(sched::Worker *worker, const sched::Group *team) {
    return worker && worker->slot && worker->slot->group == team ? worker->slot : nullptr;
}

static void make_ready(sched::Worker *worker, Task &task, Then then) {
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

// One child less; what is left of `pending`. acq_rel: the child's writes are visible after the
// taskwait; the last one may free the parent.
static std::int64_t drop_child(Task &parent) {
    return parent.pending.fetch_sub(Task::kChild, std::memory_order_acq_rel) - Task::kChild;
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
    if (group && group->count.fetch_sub(2, std::memory_order_acq_rel) - 2 == 1)
        group->cell.signal();
}

static void fold_children(Task &task) {
    task.folded.store(true, std::memory_order_relaxed);
    if (task.spawned != 0)
        task.pending.fetch_add(std::int64_t{task.spawned} * Task::kChild,
                               std::memory_order_relaxed);
    task.spawned = 0;
}

bool last_reference(Task &task) {
    if (task.spawned == 0 && task.pending.load(std::memory_order_acquire) == 0)
        return true; // no child that could still touch the task
    const std::int64_t change = std::int64_t{task.spawned} * Task::kChild + Task::kEnded;
    task.folded.store(true, std::memory_order_relaxed);
    task.spawned = 0;
    return task.pending.fetch_add(change, std::memory_order_acq_rel) + change == Task::kEnded;
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

// The body has returned and all events are fulfilled.
void complete(sched::Worker *worker, Task &task, Then then) {
    SENNIT_ASSERT(task.state.step(TaskState::completed));
    trace::task_complete(task.trace_id);
    if (SENNIT_UNLIKELY(task.is(Task::kSpawned))) {
        const auto &spawn = *static_cast<const SpawnPayload *>(task.payload());
        if (spawn.done)
            spawn.done(spawn.done_arg);
    }
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
    // Last: a barrier may end and the team may go as soon as this is counted.
    if (sched::Slot *slot = slot_in(worker, team)) {
        slot->count_finished();
    } else {
        team->visit();
        team->finished_elsewhere.fetch_add(1, std::memory_order_acq_rel);
        // Everybody may be asleep at a barrier that can end now.
        sched::announce_work(*team);
        team->leave();
    }
}

struct AgainTimer : poll::Timer {
    Task *task;
    static void expire(poll::Timer &timer) {
        auto &self = static_cast<AgainTimer &>(timer);
        make_ready(nullptr, *self.task, Then::queue);
        std::free(&self);
    }
};

// The body has returned and asked to be called again.
static void run_again(sched::Worker &worker, Task &task) {
    const auto when = static_cast<Again>(task.again);
    SENNIT_ASSERT(when == Again::at_once || task.state.step(TaskState::paused));
    if (when == Again::after_events) {
        // kRequeued stays: it tells who fulfils the last event what to do.
        fold_children(task);
        if (task.events.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        task.events.store(1, std::memory_order_relaxed);
    }
    task.flags &= ~Task::kRequeued;
    if (when == Again::after_time) {
        if (void *memory = std::malloc(sizeof(AgainTimer))) {
            auto *timer = new (memory) AgainTimer;
            timer->deadline_ns = poll::now_ns() + task.again_after_ns;
            timer->fire = AgainTimer::expire;
            timer->task = &task;
            poll::start_timer(*timer);
            return;
        }
    }
    make_ready(&worker, task, Then::queue);
}

// Tasks that have ended and wait for events are on no stack: a list of them is all that a report
// can find them by.
static void list_waiting(sched::Worker &worker, Task &task) {
    task.flags |= Task::kListed;
    worker.event_lock.lock();
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
        if (task.events.load(std::memory_order_acquire) != 1)
            list_waiting(worker, task); // before others can complete it
        if (task.events.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return false;
        unlist_waiting(task);
        return true;
    }
    // The event of a discarded task may never come, so nobody waits for it. Until it comes it
    // counts as a child, which keeps the memory.
    task.pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    if (task.events.fetch_sub(1, std::memory_order_acq_rel) == 1)
        task.pending.fetch_sub(Task::kChild, std::memory_order_relaxed);
    return true;
}

// ---- with somebody looking on (observer.h) --------------------------------------------------

// `begins`: not so the later parts of an untied task that the compiler has cut.
static SENNIT_COLD void observed_start(sched::Worker &worker, sched::Slot &slot, Task &task,
                                       bool begins) {
    trace::task_start(task.trace_id, task.entry);
    worker.slot = &slot;
    if (Observer *observer = task::observer())
        observer->starts(worker, task, worker.task);
    if (begins && is_cancelled(task)) {
        task.flags |= Task::kDiscarded;
        if (Observer *observer = task::observer())
            observer->discarded(task);
    }
}

// The body has returned.
SENNIT_COLD void observed_end(sched::Worker &worker, Task &task) {
    using End = Observer::End;
    trace::task_end(task.trace_id);
    Observer *observer = task::observer();
    if (!observer)
        return;
    End how = is_cancelled(task) ? End::cancel : End::complete;
    if (task.is(Task::kRequeued))
        how = End::pause;
    else if (!task.is(Task::kDiscarded) && task.is(Task::kEvents) &&
             task.events.load(std::memory_order_acquire) > 1 &&
             task.tool->decide(ToolRecord::Detached::yes))
        how = End::detach;
    observer->ends(worker, task, how);
}

// Before a completion that the task's body is not the last step of.
SENNIT_COLD void observed_late_completion(Task &task) {
    if (Observer *observer = task::observer();
        observer &&
        task.tool->detached.load(std::memory_order_relaxed) == ToolRecord::Detached::yes)
        observer->fulfilled(task, true);
}

// Before `count` events are fulfilled: are they the last, and the body still at work?
static SENNIT_COLD void observed_fulfilment(Task &task, std::int64_t count) {
    if (Observer *observer = task::observer();
        observer && task.events.load(std::memory_order_acquire) == count + 1 &&
        task.tool->decide(ToolRecord::Detached::early))
        observer->fulfilled(task, false);
}

static SENNIT_COLD void observed_creation(sched::Worker &worker, Task &fresh, const Depend *depends,
                                          int count) {
    trace::task_create(fresh.trace_id, fresh.entry, fresh.parent->trace_id);
    if (fresh.priority > 0 && !sched::ordered()) // a policy has its own opinion: give_priority()
        trace::priority(fresh.trace_id, fresh.priority);
    if (Observer *observer = task::observer())
        observer->created(worker, fresh, depends, count);
}

// Run the body of a ready, deferred task on the current stack.
static void execute(sched::Worker &worker, sched::Slot &slot, Task &task, Then then) {
    const bool begins = task.home.load(std::memory_order_relaxed) == nullptr;
    if (SENNIT_UNLIKELY(task.depend != nullptr) && begins) {
        if (task.depend->mutexes) {
            SENNIT_ASSERT(task.state.step(TaskState::excluded)); // it may be another's at once
            if (!take_mutexes(*task.depend))
                return;
        }
        if (SENNIT_UNLIKELY(task.vertex != nullptr))
            vertex_starts(task);
    }
    if (observed::by(observed::kTrace | observed::kTool | observed::kCancellation))
        observed_start(worker, slot, task, begins);
    worker.task = &task;
    worker.slot = &slot;
    task.home.store(&worker, std::memory_order_relaxed);
    SENNIT_ASSERT(task.state.step(TaskState::running));
    task.invoke(task);
    if (observed::by_anybody())
        observed_end(worker, task);
    if (SENNIT_UNLIKELY(task.flags & (Task::kEvents | Task::kRequeued | Task::kProfiled))) {
        if (task.is(Task::kRequeued))
            return run_again(worker, task);
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

void note_may_suspend() {
    if (may_suspend())
        return;
    detail::g_may_suspend.store(true, std::memory_order_relaxed);
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

static SENNIT_COLD Task *allocate_observed(sched::Worker &worker, std::size_t payload_size) {
    constexpr std::size_t kAlign = alignof(ToolRecord);
    const std::size_t record_at = (sizeof(Task) + payload_size + kAlign - 1) & ~(kAlign - 1);
    void *memory = worker.heap.allocate(record_at + sizeof(ToolRecord));
    auto *task = new (memory) Task;
    task->tool = new (static_cast<std::byte *>(memory) + record_at) ToolRecord;
    return task;
}

Task *allocate(sched::Worker &worker, std::size_t payload_size) {
    if (observed::by(observed::kTool))
        return allocate_observed(worker, payload_size);
    return new (worker.heap.allocate(sizeof(Task) + payload_size)) Task;
}

namespace {

// How many tasks a team may have unfinished before creators help: enough for a policy to see the
// future, few enough to stay in the cache.
std::int64_t window() {
    const long asked = config().window;
    return asked >= 0 ? asked : may_suspend() ? 32768 : 2048;
}

std::int64_t unfinished(const sched::Group &team) {
    auto total = static_cast<std::int64_t>(team.created_elsewhere.load(std::memory_order_relaxed) -
                                           team.finished_elsewhere.load(std::memory_order_relaxed));
    for (int i = 0; i < team.size; ++i)
        total += static_cast<std::int64_t>(team.slots[i]->created.load(std::memory_order_relaxed) -
                                           team.slots[i]->finished.load(std::memory_order_relaxed));
    return total;
}

// Are too many tasks unfinished for one who has just created another? The others' counters are in
// their caches: look again only when the window may be full.
bool beyond_window(sched::Slot &slot) {
    const std::uint64_t created = slot.created.load(std::memory_order_relaxed);
    if (created < slot.next_look)
        return false;
    constexpr std::int64_t kBetweenLooks = 16;
    const std::int64_t room = window() - unfinished(*slot.group);
    slot.next_look =
        created + static_cast<std::uint64_t>(std::max(room / slot.group->size, kBetweenLooks));
    return room < 0;
}

} // namespace

// A new task is ready.
static void push_new(sched::Worker &worker, Task &fresh) {
    SENNIT_ASSERT(fresh.state.step(TaskState::ready));
    worker.push(*worker.slot, &fresh);
}
static void push_new_elsewhere(Task &fresh) {
    SENNIT_ASSERT(fresh.state.step(TaskState::ready));
    sched::push_foreign(*fresh.team, &fresh);
}

// Under every policy but `steal`: a new task waits for its turn. A creator that is far enough ahead
// lets one task at a time go first.
static void submit_ordered(sched::Worker &worker, Task &fresh, const Depend *depends, int count) {
    bool ready = true;
    if (count > 0) {
        fresh.depend = make_node(worker, &fresh);
        if (sched::rules().propagates()) {
            Linking linking(worker, fresh);
            ready = add_depends(worker, *fresh.parent, *fresh.depend, depends, count, &linking);
        } else {
            ready = add_depends(worker, *fresh.parent, *fresh.depend, depends, count);
        }
    }
    if (ready)
        push_new(worker, fresh);
    if (SENNIT_UNLIKELY(beyond_window(*worker.slot)))
        worker.yield();
}

// ---- beyond the team ------------------------------------------------------------------------

SENNIT_COLD bool made_by_guest(sched::Worker &worker, Task &fresh) {
    if (worker.slot->group == fresh.team)
        return false;
    fresh.team->created_elsewhere.fetch_add(1, std::memory_order_release);
    return true;
}

namespace {

std::atomic<Offer> g_offer{nullptr};

SENNIT_COLD bool given_away(sched::Worker &worker, Task &fresh, const Depend *depends, int count) {
    if (!made_by_guest(worker, fresh)) {
        // An untied task may come back to the queue of whoever runs it.
        const Offer offer = g_offer.load(std::memory_order_acquire);
        return offer && worker.task->is(Task::kOffers) && count == 0 && !fresh.is(Task::kUntied) &&
               !worker.slot->outside && !sched::ordered() && offer(worker, fresh);
    }
    if (sched::ordered())
        give_priority(fresh, count);
    if (count > 0) {
        fresh.depend = make_node(worker, &fresh);
        if (!add_depends(worker, *fresh.parent, *fresh.depend, depends, count))
            return true;
    }
    push_new_elsewhere(fresh);
    return true;
}

} // namespace

void let_others_run(Offer offer) {
    g_offer.store(offer, std::memory_order_release);
    observed::set(observed::kFreeAgents);
}

void run_beyond_team(sched::Worker &worker, sched::Slot &guest, Task &task) {
    sched::Slot *const slot = worker.slot;
    Task *const self = worker.task;
    execute(worker, guest, task, Then::queue);
    worker.slot = slot;
    worker.task = self;
}

// ---- submission -----------------------------------------------------------------------------

void submit(sched::Worker &worker, Task &fresh, const Depend *depends, int count) {
    worker.count_task();
    count_child(worker, fresh);
    if (observed::by_anybody()) {
        observed_creation(worker, fresh, depends, count);
        if (observed::by(observed::kFreeAgents) && given_away(worker, fresh, depends, count))
            return;
    }
    if (sched::ordered()) {
        give_priority(fresh, count);
        if (!worker.slot->outside) // where it waits in a queue only if its dependences make it wait
            return submit_ordered(worker, fresh, depends, count);
    }
    if (count > 0) {
        fresh.depend = make_node(worker, &fresh);
        if (!add_depends(worker, *fresh.parent, *fresh.depend, depends, count)) {
            if (SENNIT_UNLIKELY(beyond_window(*worker.slot)))
                worker.yield();
            return;
        }
    }
    if (SENNIT_LIKELY(!throttled(worker))) {
        push_new(worker, fresh);
        return;
    }
    sched::Slot &slot = *worker.slot;
    if (may_suspend()) {
        // The creator must not be buried under a task that may wait for what it does next.
        if (!worker.run_on_own_fiber(slot, &fresh, detail::g_throttle / 2))
            push_new(worker, fresh);
        return;
    }
    if (slot.alone && fresh.is(Task::kUntied))
        fresh.flags |= Task::kUndeferred; // the parts that the compiler cut follow each other
    Task *const creator = worker.task;
    execute(worker, slot, fresh, Then::queue);
    worker.task = creator;
    worker.slot = &slot;
}

void submit_sibling(sched::Worker &worker, const Task &self, Task &fresh) {
    fresh.parent = self.parent;
    fresh.taskgroup = self.taskgroup;
    fresh.icvs = self.icvs;
    // Whoever runs the parent, and whether it is folded: `self` still counts, so it is not done.
    fresh.parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    worker.count_task();
    count_in_team(worker, fresh);
    if (observed::by_anybody()) {
        observed_creation(worker, fresh, nullptr, 0);
        if (observed::by(observed::kFreeAgents) && made_by_guest(worker, fresh))
            return push_new_elsewhere(fresh);
    }
    if (sched::ordered())
        give_priority(fresh, 0);
    push_new(worker, fresh);
}

void submit_elsewhere(sched::Worker &worker, Task &fresh) {
    fresh.parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    if (observed::by_anybody())
        observed_creation(worker, fresh, nullptr, 0);
    if (sched::ordered())
        give_priority(fresh, 0);
    push_new_elsewhere(fresh);
}

// ---- events, suspension ---------------------------------------------------------------------

void requeue(Task &task, Again when, std::uint64_t ns) {
    task.flags |= Task::kRequeued;
    task.again = static_cast<std::uint8_t>(when);
    task.again_after_ns = ns;
}

void bind_events(Task &task, std::int64_t count) {
    task.flags |= Task::kEvents;
    task.events.fetch_add(count, std::memory_order_relaxed);
}

// What is called at the completion of a spawned task may block, and this thread, which fulfils an
// event, may be in the middle of what that waits for: it is the task's last part.
static bool calls_back(Task &task) {
    auto &spawn = *static_cast<SpawnPayload *>(task.payload());
    if (!spawn.done)
        return false;
    spawn.body = std::exchange(spawn.done, nullptr);
    spawn.arg = spawn.done_arg;
    task.flags &= ~(Task::kEvents | Task::kProfiled);
    task.events.store(1, std::memory_order_relaxed);
    make_ready(sched::Worker::self(), task, Then::queue);
    return true;
}

void fulfil_events(Task &task, std::int64_t count) {
    if (observed::by_anybody())
        observed_fulfilment(task, count);
    if (task.events.fetch_sub(count, std::memory_order_acq_rel) != count)
        return;
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
        if (task.is(Task::kSpawned) && calls_back(task))
            return;
        complete(sched::Worker::self(), task, Then::queue);
    }
}

void retire_implicit(sched::Worker &worker, Task &task) {
    if (task.children_depend) {
        drop_table(&worker, task.children_depend);
        task.children_depend = nullptr;
    }
}

void never_throttle() {
    detail::g_throttle = detail::kNever;
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

void heed_cancellation() {
    observed::set(observed::kCancellation);
}

void setup() {
    detail::g_throttle = static_cast<std::uint32_t>(config().throttle);
    if (sched::ordered() || detail::g_throttle == detail::kNever)
        detail::g_lone_at_once.store(false, std::memory_order_relaxed);
    if (program::process_may_suspend())
        note_may_suspend();
}

void run_node(sched::Worker &worker, sched::Slot &slot, sched::Node *node) {
    execute(worker, slot, *static_cast<Task *>(node), Then::next);
}

} // namespace task
} // namespace sennit
