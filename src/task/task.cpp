// SPDX-License-Identifier: Apache-2.0
#include "task/task.h"

#include "base/config.h"
#include "base/message.h"
#include "task/depend.h"
#include "task/imports.h"
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

namespace {

enum class Then { queue, next }; // where the first ready successor goes

// This worker's slot in the task's team, or null.
sched::Slot *slot_in(sched::Worker *worker, const sched::Group *team) {
    return worker && worker->slot && worker->slot->group == team ? worker->slot : nullptr;
}

void make_ready(sched::Worker *worker, Task &task, Then then) {
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

void queue_ready(sched::Node *node) {
    make_ready(sched::Worker::self(), *static_cast<Task *>(node), Then::queue);
}

void node_ready(sched::Worker *worker, DependNode &node, Then then) {
    if (node.waiter)
        node.waiter->signal();
    else
        make_ready(worker, *node.task, then);
}

void free_task(sched::Worker *worker, Task *task) {
    if (task->depend)
        drop_node(worker, task->depend);
    else
        release_block(worker, task);
}

// One child less; what is left of `pending`. acq_rel: the child's writes are visible after the
// taskwait; the last one may free the parent.
std::int64_t drop_child(Task &parent) {
    return parent.pending.fetch_sub(Task::kChild, std::memory_order_acq_rel) - Task::kChild;
}

// A child of `parent` has completed.
void tell_parent(sched::Worker *worker, Task *parent) {
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

void tell_group(Taskgroup *group) {
    if (group && group->count.fetch_sub(2, std::memory_order_acq_rel) - 2 == 1)
        group->cell.signal();
}

void fold_children(Task &task) {
    task.folded.store(true, std::memory_order_relaxed);
    if (task.spawned != 0)
        task.pending.fetch_add(std::int64_t{task.spawned} * Task::kChild,
                               std::memory_order_relaxed);
    task.spawned = 0;
}

// Of a completed task: true when no child is left; otherwise the last child frees it.
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
    if (node->mutex_count)
        release_mutexes(*node, queue_ready);
    release_successors(worker, *node, [&](DependNode &ready) {
        node_ready(worker, ready, then);
        then = Then::queue;
    });
}

// The body has returned and all events are fulfilled.
void complete(sched::Worker *worker, Task &task, Then then) {
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
        team->finished_elsewhere.fetch_add(1, std::memory_order_acq_rel);
        // Everybody may be asleep at a barrier that can end now.
        sched::announce_work(*team);
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
void run_again(sched::Worker &worker, Task &task) {
    const auto when = static_cast<Again>(task.again);
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
void list_waiting(sched::Worker &worker, Task &task) {
    task.flags |= Task::kListed;
    worker.event_lock.lock();
    task.listed_next = worker.event_tasks;
    task.listed_at = &worker.event_tasks;
    if (worker.event_tasks)
        worker.event_tasks->listed_at = &task.listed_next;
    worker.event_tasks = &task;
    worker.event_lock.unlock();
}

void unlist_waiting(Task &task) {
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

// The body of a task with events has returned, or was discarded: is the task complete? If not,
// whoever fulfils the last event completes it, maybe on another thread, and it may be gone by now.
bool all_events(sched::Worker &worker, Task &task) {
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
SENNIT_COLD void observed_start(sched::Worker &worker, sched::Slot &slot, Task &task, bool begins) {
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
SENNIT_COLD void observed_fulfilment(Task &task, std::int64_t count) {
    if (Observer *observer = task::observer();
        observer && task.events.load(std::memory_order_acquire) == count + 1 &&
        task.tool->decide(ToolRecord::Detached::early))
        observer->fulfilled(task, false);
}

SENNIT_COLD void observed_creation(sched::Worker &worker, Task &fresh, const Depend *depends,
                                   int count) {
    trace::task_create(fresh.trace_id, fresh.entry, fresh.parent->trace_id);
    if (Observer *observer = task::observer())
        observer->created(worker, fresh, depends, count);
}

// Run the body of a ready, deferred task on the current stack.
void execute(sched::Worker &worker, sched::Slot &slot, Task &task, Then then) {
    const bool begins = task.home.load(std::memory_order_relaxed) == nullptr;
    if (SENNIT_UNLIKELY(task.depend != nullptr) && begins) {
        if (task.depend->mutex_count && !acquire_mutexes(*task.depend, &task, queue_ready))
            return;
        if (SENNIT_UNLIKELY(task.vertex != nullptr))
            vertex_starts(task);
    }
    if (observed::by(observed::kTrace | observed::kTool | observed::kCancellation))
        observed_start(worker, slot, task, begins);
    worker.task = &task;
    worker.slot = &slot;
    task.home.store(&worker, std::memory_order_relaxed);
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

} // namespace

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

static void count_in_team(sched::Worker &worker, Task &task) {
    if (task.taskgroup)
        task.taskgroup->count.fetch_add(2, std::memory_order_relaxed);
    sched::Group &team = *task.team;
    worker.slot->count_created();
    if (SENNIT_UNLIKELY(!team.has_tasks.load(std::memory_order_relaxed)))
        team.has_tasks.store(true, std::memory_order_release);
}

static void count_child(sched::Worker &worker, Task &task) {
    Task *parent = task.parent;
    if (SENNIT_LIKELY(!parent->folded.load(std::memory_order_relaxed)))
        ++parent->spawned;
    else
        parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    count_in_team(worker, task);
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

// Under a policy other than `auto`: every task waits for its turn, and its creator, once it is far
// enough ahead, lets one task at a time go first.
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
        worker.push(*worker.slot, &fresh);
    if (SENNIT_UNLIKELY(beyond_window(*worker.slot)))
        worker.yield();
}

// ---- beyond the team ------------------------------------------------------------------------

namespace {

std::atomic<Offer> g_offer{nullptr};

// The task that makes `fresh` runs on a worker that is no thread of its team: so much for having
// counted it in the slot. Its children are for the team.
SENNIT_COLD bool made_by_guest(sched::Worker &worker, Task &fresh) {
    if (worker.slot->group == fresh.team)
        return false;
    fresh.team->created_elsewhere.fetch_add(1, std::memory_order_release);
    return true;
}

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
    sched::push_foreign(*fresh.team, &fresh);
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
        worker.push(*worker.slot, &fresh);
        return;
    }
    sched::Slot &slot = *worker.slot;
    if (may_suspend()) {
        // The creator must not be buried under a task that may wait for what it does next.
        if (!worker.run_on_own_fiber(slot, &fresh))
            worker.push(slot, &fresh);
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
            return sched::push_foreign(*fresh.team, &fresh);
    }
    if (sched::ordered())
        give_priority(fresh, 0);
    worker.push(*worker.slot, &fresh);
}

void submit_elsewhere(sched::Worker &worker, Task &fresh) {
    fresh.parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    if (observed::by_anybody())
        observed_creation(worker, fresh, nullptr, 0);
    if (sched::ordered())
        give_priority(fresh, 0);
    sched::push_foreign(*fresh.team, &fresh);
}

// ---- undeferred -----------------------------------------------------------------------------

namespace {

// mutexinoutset: an undeferred task cannot be put aside; wait its turn.
void take_mutexes(sched::Worker &worker, DependNode &node) {
    while (node.mutex_count) {
        bool free = true;
        int taken = 0;
        for (; taken < node.mutex_count && free; ++taken) {
            DependMutex &mutex = *node.mutexes[taken];
            mutex.lock.lock();
            free = !mutex.held;
            mutex.held = true;
            mutex.lock.unlock();
        }
        if (free)
            break;
        give_back_mutexes(node, taken - 1, queue_ready);
        worker.yield();
    }
}

// A node whose predecessors `creator` has waited for, with mutexes that the undeferred task, not
// yet known, has to take. No scheduling point is between the two calls.
struct Waited {
    const Task *creator;
    DependNode *node;
};
SENNIT_TLS Waited t_waited;

} // namespace

void wait_depends(sched::Worker &worker, Task *self, const Depend *depends, int count) {
    if (count == 0)
        return;
    sched::WaitCell cell;
    DependNode *node = make_node(worker, self);
    node->waiter = &cell;
    if (!add_depends(worker, *worker.task, *node, depends, count)) {
        sched::CellCondition condition(cell, sched::WaitFor::dependences, node);
        worker.wait(condition);
    }
    if (self) {
        self->depend = node;
        take_mutexes(worker, *node);
        return;
    }
    release_successors(&worker, *node,
                       [&](DependNode &ready) { node_ready(&worker, ready, Then::queue); });
    if (SENNIT_LIKELY(node->mutex_count == 0)) {
        drop_node(&worker, node);
        return;
    }
    if (t_waited.node)
        drop_node(&worker, t_waited.node);
    t_waited = {worker.task, node};
}

void take_waited_mutexes(sched::Worker &worker, Task &task) {
    if (SENNIT_LIKELY(!t_waited.node) || t_waited.creator != worker.task)
        return;
    DependNode *const waited = t_waited.node;
    t_waited.node = nullptr;
    task.depend = make_node(worker, &task);
    std::swap(task.depend->mutexes, waited->mutexes);
    std::swap(task.depend->mutex_count, waited->mutex_count);
    drop_node(&worker, waited);
    take_mutexes(worker, *task.depend);
}

Task *detail::make_spare(sched::Worker &worker) {
    Task *task = allocate(worker, 0);
    task->home.store(&worker, std::memory_order_relaxed);
    return task;
}

SENNIT_COLD void detail::observed_undeferred_begin(sched::Worker &worker, Task &task) {
    trace::task_create(task.trace_id, task.entry, task.parent->trace_id);
    trace::task_start(task.trace_id, task.entry);
    if (Observer *observer = task::observer()) {
        if (!task.tool->created)
            observer->created(worker, task, nullptr, 0);
        observer->starts(worker, task, task.parent);
    }
}

SENNIT_COLD void detail::observed_included_begin(sched::Worker &worker, Task &task) {
    if (task::observer()) // made for another task
        new (task.tool) ToolRecord;
    observed_undeferred_begin(worker, task);
}

namespace {

class ChildrenCondition final : public sched::Condition {
  public:
    explicit ChildrenCondition(Task &task)
        : Condition(sched::WaitFor::children, &task), task_(task) {
        bury = Bury::accepted;
    }

    bool accepts(const sched::Node *node) override {
        return static_cast<const Task *>(node)->parent == &task_;
    }
    bool done() override {
        const std::int64_t elsewhere = task_.pending.load(std::memory_order_acquire) / Task::kChild;
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
        // acq_rel: whoever brings the count to zero after this sees kWaiting and the armed cell.
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

    bool accepts(const sched::Node *node) override {
        return static_cast<const Task *>(node)->taskgroup == &group_;
    }
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
        if (armed_)
            group_.count.fetch_sub(1, std::memory_order_relaxed);
        armed_ = false;
    }

  private:
    Taskgroup &group_;
    bool armed_ = false;
};

} // namespace

// The structured block is over, so the creator goes on; events are left, so the task is not
// complete. From now on it is one of those that are waited for as deferred tasks are.
static bool outlives_its_block(sched::Worker &worker, Task &task) {
    if (SENNIT_LIKELY(!task.is(Task::kEvents)) || task.events.load(std::memory_order_acquire) == 1)
        return false;
    task.flags &= ~Task::kUndeferred; // before others can complete it
    count_child(worker, task);
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
    if (outlives_its_block(worker, task))
        return;
    if (task.is(Task::kEvents) && observed::by_anybody())
        observed_late_completion(task);
    if (task.children_depend) {
        drop_table(&worker, task.children_depend);
        task.children_depend = nullptr;
    }
    release_depends(&worker, task, Then::queue);
    trace::task_complete(task.trace_id);
    if (last_reference(task))
        free_task(&worker, &task);
}

void wait_children(sched::Worker &worker) {
    Task &task = *worker.task;
    if (task.spawned == 0 && task.pending.load(std::memory_order_acquire) == 0)
        return;
    ChildrenCondition condition(task);
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
        worker.wait(condition);
        condition.finish();
    }
    worker.task->taskgroup = group.outer;
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
        complete(sched::Worker::self(), task, Then::queue);
    }
}

void suspend(sched::Worker &worker, const sennit_wait *why) {
    Task &task = *worker.task;
    if (!task.block_cell.signalled()) {
        worker.suspended.begin();
        trace::task_suspend(task.trace_id);
        if (Observer *observer = task::observer())
            observer->suspends(worker);
        sched::CellCondition condition(task.block_cell, sched::WaitFor::resumption, why);
        worker.wait(condition);
        if (Observer *observer = task::observer())
            observer->resumes(worker, task);
        trace::task_resume(task.trace_id);
        worker.suspended.end();
    }
    task.block_cell.reset();
}

void resume(Task &task) {
    trace::task_unblock(task.trace_id);
    task.block_cell.signal();
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
    if (process_may_suspend())
        note_may_suspend();
}

} // namespace task

namespace sched {
void run_node(Worker &worker, Slot &slot, Node *node) {
    task::execute(worker, slot, *static_cast<Task *>(node), task::Then::next);
}
} // namespace sched

} // namespace sennit
