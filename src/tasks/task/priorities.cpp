// SPDX-License-Identifier: Apache-2.0
#include "tasks/task/priorities.h"

#include "base/everlasting.h"
#include "base/message.h"
#include "decide/tasks/outlook.h"
#include "tasks/program/senders.h"
#include "tasks/sched/processors.h"
#include "tasks/task/lifecycle.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::task {

SpinLock detail::g_outlook_lock;

namespace {

using policy::Profile;
using policy::Vertex;

class TaskOutlook final : public policy::Outlook {
    void changed(Vertex &vertex) override {
        auto &task = *static_cast<Task *>(vertex.item);
        task.change_priority(vertex.priority());
        trace::priority(task.trace_id, task.priority);
        sched::OrderedQueue::moved(&task);
    }
    void released(Vertex &vertex) override { release_block(sched::Worker::self(), &vertex); }
};

// What tasks lead to, and what it costs to look at that. `looks` and `verdicts` are also read
// without the lock, and what the outlook knows of kinds of tasks is atomic.
//
// The ticks include the wait for the lock. To read the clock twice takes as long as most looks. So
// one look of kSample is measured and counts for all. (kSample is odd, since creations and starts
// often take turns.) Passes, and time beyond kLongLookUs, in which the system took the core away,
// count once.
struct Priorities {
    static constexpr unsigned kSample = 17;
    static constexpr std::uint64_t kLongLookUs = 20;

    bool measures_next() const { return looks.load(std::memory_order_relaxed) % kSample == 0; }
    void begin_look() SENNIT_ACQUIRE(detail::g_outlook_lock) {
        detail::g_outlook_lock.lock();
        looks.store(looks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void change_verdicts() SENNIT_REQUIRES(detail::g_outlook_lock) {
        verdicts.store(verdicts.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    // The look that was measured took this long, without passes.
    void count(std::uint64_t spent) SENNIT_REQUIRES(detail::g_outlook_lock) {
        const std::uint64_t typical = std::min(spent, kLongLookUs * sched::ticks_per_us());
        spent_on_looks += spent + (kSample - 1) * typical;
    }

    TaskOutlook outlook;
    std::atomic<std::uint32_t> verdicts{1}; // and how often they have changed
    std::atomic<unsigned> looks{0};
    std::uint64_t spent_on_looks SENNIT_GUARDED_BY(detail::g_outlook_lock) = 0; // ticks
    std::uint64_t spent_on_passes SENNIT_GUARDED_BY(detail::g_outlook_lock) = 0;
};
Priorities g_priorities;

// In exit handlers tasks may still run, and statistics are still to be written.
constinit Everlasting<policy::Profiles> g_everlasting_profiles;
policy::Profiles &g_profiles = g_everlasting_profiles.object;

constinit policy::Creators g_creators;

void note_verdict(bool changed, bool sends) {
    if (!changed)
        return;
    const OutlookGuard guard;
    g_priorities.change_verdicts();
    g_priorities.outlook.verdict_changed(sends);
    sched::note_outdated(g_priorities.outlook.outdated());
}

void bring_up_to_date() SENNIT_REQUIRES(detail::g_outlook_lock) {
    const std::uint64_t begun = ticks();
    g_priorities.outlook.reconsider();
    const std::uint64_t spent = ticks() - begun;
    g_priorities.spent_on_passes += spent;
    trace::policy_pass(spent);
    sched::note_outdated(false);
}

Profile *profile_of(const Task &task, int dependences) {
    constexpr std::uint32_t kProperties =
        Task::kUntied | Task::kFinal | Task::kMergeable | Task::kUndeferred;
    policy::ProfileKey key;
    key.entry = task.entry;
    key.parent_entry = task.parent->entry;
    key.size = task.payload_size;
    key.properties = task.flags & kProperties;
    key.dependences = static_cast<std::uint32_t>(dependences);
    // Often the task is of the same kind as the one before.
    static SENNIT_TLS Profile *t_latest = nullptr;
    Profile *profile = t_latest;
    if (!profile || profile->key != key)
        t_latest = profile = g_profiles.find(key, program::known_to_send);
    if (policy::known_send(g_priorities.outlook, profile))
        note_verdict(true, true); // the first send is known beforehand
    return profile;
}

// An undeferred task is a part of its creator's work, and so is a region of the task that
// encounters it. Null: the program's first task, or another one without a priority.
SENNIT_NOINLINE const Task *creator_of(const Task &task) {
    const Task *creator = task.parent;
    while (creator && creator->is(Task::kImplicit | Task::kUndeferred))
        creator = creator->parent;
    return creator && creator->is_explicit() ? creator : nullptr;
}

// The usual case: its creator has no priority, and nothing leads to sends but dependences.
bool heeds_nobody(const Task &task) {
    return !task.is(Task::kHandsOn) && !g_creators.any_leads();
}

// Might it tell that its creator leads to sends? Not of a thread of a region.
bool tells_of_creator(const Task &task, int priority) {
    return priority == policy::kMostPriority && !task.parent->is(Task::kImplicit);
}

void hand_on(Task &task) {
    if (task.priority > 0)
        task.flags |= Task::kHandsOn;
    else if (task.is(Task::kHandsOn))
        task.flags &= ~Task::kHandsOn;
}

// A creator leads to sends if one of its tasks sends. Null: it has no creator.
SENNIT_NOINLINE void note_send_task(const Task &task, const Task *creator) {
    const bool sends =
        sched::rules().clauses == policy::Clauses::marks ||
        (task.is(Task::kProfiled) && task.profile->verdict() == Profile::Verdict::sends);
    if (creator && sends)
        g_creators.note(creator->entry, policy::Creators::kLeads);
}

struct Heeded {
    bool leads; // it creates send-tasks
    int least;  // priority that its creator hands on
};

// Control dependences of a new task (decide/tasks/creators.h). If it leads to sends, so does its
// creator. Null: it has none.
SENNIT_NOINLINE Heeded heed_creator(const Task &task, const Task *creator) {
    const bool leads = g_creators.has(task.entry, policy::Creators::kLeads);
    if (!creator)
        return {leads, 0};
    if (leads)
        g_creators.note(creator->entry, policy::Creators::kLeads);
    return {leads, policy::handed_on(g_creators, creator->entry, creator->current_priority())};
}

SENNIT_NOINLINE void heed_control(Task &task) {
    const Task *const creator = creator_of(task);
    if (tells_of_creator(task, task.priority))
        note_send_task(task, creator);
    const Heeded heeded = heed_creator(task, creator);
    const int least = heeded.leads ? policy::kLeadsPriority : 0;
    task.priority = std::max({task.priority, heeded.least, least});
    hand_on(task);
}

} // namespace

void give_priority(Task &task, int dependences) {
    const policy::Rules &rules = sched::rules();
    task.queue = nullptr;
    if (rules.by_creation)
        task.age = sched::next_age();
    Profile *profile = rules.learns() ? profile_of(task, dependences) : nullptr;
    if (profile) {
        task.profile = profile;
        task.flags |= Task::kProfiled;
    }
    task.priority = policy::first_priority(rules, g_priorities.outlook, profile, task.priority,
                                           dependences > 0);
    // Else Linking::finish() and vertex_starts() do that.
    const bool propagates = dependences == 0 && (profile || rules.propagates());
    if (propagates && SENNIT_UNLIKELY(!heeds_nobody(task) || tells_of_creator(task, task.priority)))
        heed_control(task);
    if (task.priority > 0) {
        if (propagates)
            task.flags |= Task::kHandsOn;
        trace::priority(task.trace_id, task.priority);
    }
}

OutlookGuard::OutlookGuard() : begun_(g_priorities.measures_next() ? ticks() : 0) {
    g_priorities.begin_look();
    passes_before_ = g_priorities.spent_on_passes;
}

void priorities_before_fork() SENNIT_ACROSS_FORK {
    detail::g_outlook_lock.lock();
}

void priorities_after_fork() SENNIT_ACROSS_FORK {
    detail::g_outlook_lock.unlock();
}

OutlookGuard::~OutlookGuard() {
    if (begun_ != 0)
        g_priorities.count(ticks() - begun_ - (g_priorities.spent_on_passes - passes_before_));
    detail::g_outlook_lock.unlock();
}

Linking::~Linking() {
    if (found_ != few_)
        std::free(found_);
}

void Linking::grow() {
    capacity_ *= 4;
    const std::size_t bytes = static_cast<std::size_t>(capacity_) * sizeof(Vertex *);
    void *memory = std::realloc(found_ == few_ ? nullptr : found_, bytes);
    if (!memory)
        fatal("no memory for task dependences (%zu bytes)", bytes);
    if (found_ == few_)
        std::memcpy(memory, few_, sizeof few_);
    found_ = static_cast<Vertex **>(memory);
}

void Linking::add(const DependNode &predecessor) {
    Vertex *vertex = predecessor.task ? predecessor.task->vertex : nullptr;
    if (!vertex)
        return;
    if (count_ == capacity_)
        grow();
    found_[count_++] = vertex;
}

void Linking::finish() {
    const std::size_t list = static_cast<std::size_t>(count_) * sizeof(Vertex *);
    auto *vertex = new (worker_.heap.allocate(sizeof(Vertex) + list)) Vertex;
    vertex->item = &task_;
    vertex->profile = task_.profile;
    vertex->predecessors = reinterpret_cast<Vertex **>(vertex + 1);
    vertex->predecessor_count = count_;
    for (int i = 0; i < count_; ++i) // often one
        vertex->predecessors[i] = found_[i];
    int least = 0;
    if (!heeds_nobody(task_)) {
        const Heeded heeded = heed_creator(task_, creator_of(task_));
        vertex->leads = heeded.leads;
        least = heeded.least;
    }
    int priority = policy::place(sched::rules(), g_priorities.outlook, *vertex, task_.priority);
    if (SENNIT_UNLIKELY(priority < least)) { // not for its predecessors
        vertex->floor = static_cast<std::int16_t>(least);
        priority = least;
    }
    if (priority != task_.priority)
        trace::priority(task_.trace_id, priority);
    if (SENNIT_UNLIKELY(tells_of_creator(task_, priority)))
        note_send_task(task_, creator_of(task_));
    task_.priority = priority;
    task_.vertex = vertex;
}

// ---- repeated graphs, see repeats.h ----------------------------------------------------------

bool may_foresee() {
    return !g_creators.any_leads();
}

// Once for a period. Tasks off all paths keep their vertices: a send that is not in the period may
// come. So may that of a kind of tasks which nobody knows yet. The latest tasks were created when
// nothing was known of the next round.
static SENNIT_COLD bool look_ahead(Repeats &repeats, std::uint32_t verdicts) {
    using Verdict = Profile::Verdict;
    bool known = true;
    const auto sends = [&](const Repeats::Step &step) {
        if (!sched::rules().learns())
            return step.sends;
        const Verdict verdict = step.profile ? step.profile->verdict() : Verdict::unknown;
        known = known && verdict != Verdict::unknown;
        return verdict == Verdict::sends;
    };
    if (!repeats.find_priorities(verdicts, policy::kMostPriority, sends) || !known)
        return false;
    repeats.each_latest([](const Repeats::Step &step) {
        if (step.latest->task && step.latest->task->vertex)
            g_priorities.outlook.raise(*step.latest->task->vertex, step.priority);
    });
    return true;
}

bool Linking::foresee(Repeats &repeats, const Repeats::Step &step) {
    if (!heeds_nobody(task_))
        return false;
    const std::uint32_t verdicts = g_priorities.verdicts.load(std::memory_order_relaxed);
    if (SENNIT_UNLIKELY(!repeats.has_priorities(verdicts)) &&
        (repeats.has_priorities() || !look_ahead(repeats, verdicts)))
        return false; // since a verdict has changed, all is linked again
    const bool is_same = sched::rules().learns()
                             ? task_.profile == step.profile
                             : (task_.priority == policy::kMostPriority) == step.sends;
    if (!is_same || tells_of_creator(task_, step.priority))
        return false;
    task_.priority = std::max<int>(task_.priority, step.priority);
    hand_on(task_);
    return true;
}

void vertex_starts(Task &task) {
    const OutlookGuard guard;
    Vertex &vertex = *task.vertex;
    task.vertex = nullptr;
    hand_on(task);
    g_priorities.outlook.start(vertex);
    if (SENNIT_UNLIKELY(g_priorities.outlook.overdue()))
        bring_up_to_date();
}

void task_sends(Task &task) {
    note_verdict(policy::learn(*task.profile, true), true);
}

void task_ended(Task &task) {
    if (!task.is(Task::kSent))
        note_verdict(policy::learn(*task.profile, false), false);
}

void note_left_children(const void *entry) {
    g_creators.note(entry, policy::Creators::kLeaves);
}

PolicyCounters policy_counters() {
    const OutlookGuard guard;
    return {g_priorities.outlook.raises(), g_priorities.outlook.passes(),
            (g_priorities.spent_on_looks + g_priorities.spent_on_passes) / sched::ticks_per_us() *
                1000};
}

const policy::Profiles &profiles() {
    return g_profiles;
}

void reconsider() {
    const OutlookGuard guard;
    if (g_priorities.outlook.outdated())
        bring_up_to_date();
}

} // namespace sennit::task
