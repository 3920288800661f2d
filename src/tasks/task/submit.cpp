// SPDX-License-Identifier: Apache-2.0
// A task is handed to the scheduler. It is counted, put among its siblings in the order of
// dependences, and queued. If too many tasks wait already, its creator helps.
#include "tasks/task/submit.h"

#include "base/config.h"
#include "tasks/program/senders.h"
#include "tasks/task/accounts.h"
#include "tasks/task/depend.h"
#include "tasks/task/execute.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/others.h"
#include "tasks/task/priorities.h"
#include "tasks/task/roaming.h"
#include "tasks/task/task.h"
#include "tasks/trace/trace.h"

#include <algorithm>
#include <new>

namespace sennit::task {

static SENNIT_COLD void observed_creation(sched::Worker &worker, Task &fresh, const Depend *depends,
                                          int count) {
    trace::task_create(fresh.trace_id, traced_entry(fresh), fresh.parent->trace_id);
    if (fresh.priority > 0 && !sched::ordered()) // a policy has its own opinion: give_priority()
        trace::priority(fresh.trace_id, fresh.priority);
    if (Observer *observer = task::observer())
        observer->created(worker, fresh, depends, count);
}

// A new task is ready.
static void push_new(sched::Worker &worker, Task &fresh) {
    SENNIT_ASSERT(fresh.state.step(TaskState::ready));
    worker.push(*worker.slot, &fresh);
}
static void push_new_elsewhere(Task &fresh) {
    SENNIT_ASSERT(fresh.state.step(TaskState::ready));
    sched::push_foreign(*fresh.team, &fresh);
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

// Are too many tasks unfinished for a thread that has just created another one? The counters of the
// other threads are in their caches. So they are read again only when the window may be full.
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

// A new task with dependences takes its place among its siblings. In the outlook: under a policy
// that raises the priorities of tasks before a send. True: it waits for none of them.
[[gnu::always_inline]] static inline bool link(sched::Worker &worker, Task &fresh,
                                               const Depend *depends, int count,
                                               bool in_outlook = false) {
    fresh.depend = make_node(worker, &fresh);
    if (!in_outlook)
        return add_depends(worker, *fresh.parent, *fresh.depend, depends, count);
    Linking linking(worker, fresh);
    return add_depends(worker, *fresh.parent, *fresh.depend, depends, count, &linking);
}

static void wait_for_window(sched::Worker &worker) {
    if (SENNIT_UNLIKELY(beyond_window(*worker.slot))) {
        trace::window();
        worker.yield();
    }
}

// Under all policies except `steal` a new task waits for its turn. A creator that is far enough
// ahead lets one task at a time go first.
static void submit_ordered(sched::Worker &worker, Task &fresh, const Depend *depends, int count) {
    const bool ready =
        count == 0 || link(worker, fresh, depends, count, sched::rules().propagates());
    if (ready)
        push_new(worker, fresh);
    wait_for_window(worker);
}

// ---- beyond the team ------------------------------------------------------------------------

SENNIT_COLD bool made_by_guest(sched::Worker &worker, Task &fresh) {
    if (worker.slot->group == fresh.team)
        return false;
    fresh.team->created_elsewhere.fetch_add(1, std::memory_order_release);
    return true;
}

namespace {

std::atomic<Others *> g_others{nullptr};
std::atomic<bool> g_offers_all{false};

// May it leave its team? It is marked before anybody else knows it.
bool is_offered(Task &fresh, bool asked, bool outside) {
    Others *const they = others();
    const bool offered =
        (asked || fresh.is(Task::kOffered) || g_offers_all.load(std::memory_order_relaxed)) &&
        !outside && they && they->may_run(fresh);
    fresh.flags = offered ? fresh.flags | Task::kOffered : fresh.flags & ~Task::kOffered;
    return offered;
}

// To the queue of its team, which its creator's task keeps. If it may leave that, others are told.
void push_telling(sched::Worker &worker, Task &fresh, bool of_guest) {
    sched::Group &team = *fresh.team; // the task may be gone after the push
    Others *const they = fresh.is(Task::kOffered) ? others() : nullptr;
    if (of_guest)
        push_new_elsewhere(fresh);
    else
        push_new(worker, fresh);
    if (they)
        they->tell(&worker, team);
}

// What a guest makes goes to the end of the team's first queue. If that is too long, it helps.
bool guest_runs_at_once(const Task &fresh) {
    return fresh.is(Task::kOffered) && !sched::ordered() &&
           fresh.team->slots[0]->queue.count() >= detail::g_throttle &&
           (!may_suspend() || program::known_to_compute(fresh.entry));
}

// With free agents: true if the task is on its way. With dependences, or where a policy orders
// tasks, all go through the queue: so they keep the order.
SENNIT_COLD bool given_away(sched::Worker &worker, Task &fresh, const Depend *depends, int count) {
    const bool of_guest = made_by_guest(worker, fresh);
    const bool offered = is_offered(fresh, worker.task->is(Task::kOffers), worker.slot->outside);
    if (!of_guest && !offered)
        return false;
    if (!of_guest && count == 0 && !sched::ordered()) {
        if (others()->take(worker, fresh))
            return true;
        if (throttled(worker))
            return false;
        push_telling(worker, fresh, false);
        return true;
    }
    const bool propagates = !of_guest && sched::ordered() && sched::rules().propagates();
    if (sched::ordered())
        give_priority(fresh, count);
    if (count == 0 || link(worker, fresh, depends, count, propagates)) {
        if (of_guest && guest_runs_at_once(fresh))
            run_beyond_team(worker, *worker.slot, fresh);
        else
            push_telling(worker, fresh, of_guest);
    }
    if (!of_guest)
        wait_for_window(worker);
    return true;
}

} // namespace

Others *others() {
    return g_others.load(std::memory_order_acquire);
}

void let_others_run(Others &others) {
    g_others.store(&others, std::memory_order_release);
    observed::set(observed::kFreeAgents);
}

void offer_all_tasks() {
    g_offers_all.store(true, std::memory_order_relaxed);
    detail::g_lone_at_once.store(false, std::memory_order_relaxed); // its tasks are for others, too
}

// ---- any task -------------------------------------------------------------------------------

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
    if (count > 0 && !link(worker, fresh, depends, count))
        return wait_for_window(worker);
    if (SENNIT_LIKELY(!throttled(worker))) {
        push_new(worker, fresh);
        return;
    }
    sched::Slot &slot = *worker.slot;
    // The new task may wait for what its creator does next. So it must not run on top of the
    // creator.
    if (may_suspend() && !program::known_to_compute(fresh.entry)) {
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

// A part of an offered task is offered, too.
static SENNIT_COLD bool sibling_given_away(sched::Worker &worker, const Task &self, Task &fresh) {
    const bool of_guest = made_by_guest(worker, fresh);
    if (!is_offered(fresh, self.is(Task::kOffered), false) && !of_guest)
        return false;
    if (sched::ordered())
        give_priority(fresh, 0);
    push_telling(worker, fresh, of_guest);
    return true;
}

void submit_sibling(sched::Worker &worker, const Task &self, Task &fresh) {
    fresh.parent = self.parent;
    fresh.taskgroup = self.taskgroup;
    fresh.icvs = self.icvs;
    // It does not matter who runs the parent, and whether it is folded. `self` still counts, so the
    // parent is not complete.
    fresh.parent->pending.fetch_add(Task::kChild, std::memory_order_relaxed);
    worker.count_task();
    count_in_team(worker, fresh);
    if (observed::by_anybody()) {
        observed_creation(worker, fresh, nullptr, 0);
        if (observed::by(observed::kFreeAgents) && sibling_given_away(worker, self, fresh))
            return;
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

// A task is made: its memory. And what holds for all tasks from the start of the library on.

namespace detail {
std::atomic<bool> g_may_suspend{false};
std::uint32_t g_throttle = 256;
std::atomic<bool> g_lone_at_once{true};
} // namespace detail

void never_throttle() {
    detail::g_throttle = detail::kNever;
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

void heed_cancellation() {
    observed::set(observed::kCancellation);
}

SENNIT_COLD bool detail::nests_at_once(const sched::Worker &worker) {
    return sched::may_bury(*worker.current());
}

void setup() {
    detail::g_throttle = static_cast<std::uint32_t>(config().throttle);
    if (sched::ordered() || detail::g_throttle == detail::kNever)
        detail::g_lone_at_once.store(false, std::memory_order_relaxed);
    if (program::process_may_suspend())
        note_may_suspend();
    roaming::setup();
}

void note_may_suspend() {
    if (may_suspend())
        return;
    detail::g_may_suspend.store(true, std::memory_order_relaxed);
    detail::g_lone_at_once.store(false, std::memory_order_relaxed);
}

static Task *allocate_for_tool(sched::Worker &worker, std::size_t payload_size) {
    constexpr std::size_t kAlign = alignof(ToolRecord);
    const std::size_t record_at = (sizeof(Task) + payload_size + kAlign - 1) & ~(kAlign - 1);
    void *memory = worker.heap.allocate(record_at + sizeof(ToolRecord));
    auto *task = new (memory) Task;
    task->tool = new (static_cast<std::byte *>(memory) + record_at) ToolRecord;
    return task;
}

// set_up() makes it known that the task has an account, if its parent has one.
static SENNIT_COLD Task *allocate_observed(sched::Worker &worker, std::size_t payload_size) {
    Task *const task = observed::by(observed::kTool)
                           ? allocate_for_tool(worker, payload_size)
                           : new (worker.heap.allocate(sizeof(Task) + payload_size)) Task;
    task->account = worker.task ? account_of(*worker.task) : kNobody;
    return task;
}

Task *allocate(sched::Worker &worker, std::size_t payload_size) {
    if (observed::by(observed::kTool | observed::kAccounts))
        return allocate_observed(worker, payload_size);
    return new (worker.heap.allocate(sizeof(Task) + payload_size)) Task;
}

} // namespace sennit::task
