// SPDX-License-Identifier: Apache-2.0
// Teams as memory, the gates at which their threads wait, and the settings of their tasks.
#include "openmp/team/team.h"

#include "base/hash.h"
#include "base/message.h"
#include "openmp/team/free_agents.h"
#include "tasks/sched/processors.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace sennit::omp {

bool MemberCondition::arm(sched::Fiber *fiber) {
    member_.cell.reset();
    member_.cell.arm(fiber);
    armed_ = true;
    parked_.fetch_add(1, std::memory_order_seq_cst);
    return !holds() || !disarm(fiber);
}

bool MemberCondition::disarm(sched::Fiber *fiber) {
    if (!member_.cell.disarm(fiber))
        return false;
    finish();
    return true;
}

void MemberCondition::finish() {
    if (armed_)
        parked_.fetch_sub(1, std::memory_order_relaxed);
    armed_ = false;
}

// Waiting at a gate. Only tasks of the team may run on top of this wait. At a barrier, at the join
// and at the dock the team cannot go on before all of them are complete.
class GateCondition final : public MemberCondition {
  public:
    // cancellable: a cancelled region opens the gate too.
    GateCondition(Member &member, Gate &gate, std::uint32_t seen, bool cancellable)
        : MemberCondition(member, gate.armed_,
                          &gate == &member.team->barrier ? sched::WaitFor::barrier
                                                         : sched::WaitFor::nobody,
                          member.team),
          team_(*member.team), gate_(gate), seen_(seen), cancellable_(cancellable) {
        bury = Bury::own_group;
    }
    bool done() override {
        if (holds())
            return true;
        // Without tasks the last thread to arrive settles. To look at `arrived` would only slow it
        // down.
        if (team_.has_tasks.load(std::memory_order_relaxed) && worth_a_look() && team_.can_settle())
            team_.settle();
        return holds();
    }
    bool holds() const override {
        return gate_.epoch_.load(std::memory_order_seq_cst) != seen_ ||
               (cancellable_ && team_.cancelled.load(std::memory_order_seq_cst));
    }

  private:
    // A thread that still runs tasks writes, for each of them, to a line that the look at all
    // counts reads. If the look is too early, it costs that thread a cache miss or two. So do not
    // look before the own tasks are done. Then look ever more seldom, until the own counts say that
    // more has happened. A thread that parks looks in idle().
    bool worth_a_look() {
        if (member_.ready() != 0)
            return false;
        const std::uint64_t finished = member_.finished.load(std::memory_order_relaxed);
        if (finished != finished_ || sched::crowded()) {
            finished_ = finished;
            pause_ = 0;
        } else if (skipped_ < pause_) {
            ++skipped_;
            return false;
        }
        skipped_ = 0;
        pause_ = std::min(2 * pause_ + 1, kLongestPause);
        return true;
    }

    static constexpr int kLongestPause = 31; // rounds of Worker::wait_for
    Team &team_;
    const Gate &gate_;
    const std::uint32_t seen_;
    const bool cancellable_;
    int pause_ = 0;
    int skipped_ = 0;
    std::uint64_t finished_ = 0;
};

void Gate::open(Team &team) {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (armed_.load(std::memory_order_seq_cst) == 0)
        return;
    if (team.recruits.any() && this == &team.fork) {
        armed_.fetch_sub(1, std::memory_order_relaxed);
        return team.recruits.begin(); // nobody else is there
    }
    const sched::WakesTogether together;
    for (int i = 0; i < team.size; ++i)
        team.member(i).cell.signal_if_armed();
}

void pass(sched::Worker &worker, Member &member, Gate &gate, std::uint32_t seen, bool cancellable) {
    GateCondition condition(member, gate, seen, cancellable);
    while (!condition.holds()) {
        worker.wait(condition);
        condition.finish();
    }
}

static void *checked_alloc(std::size_t align, std::size_t size) {
    const std::size_t rounded = (size + align - 1) & ~(align - 1);
    void *memory = std::aligned_alloc(align, rounded);
    if (!memory)
        fatal("no memory for a team of threads (%zu bytes): lower OMP_NUM_THREADS", size);
    return memory;
}

// A thread of a team that has the number 0 is the one that encountered the region.
ThreadValues *values_here(sched::Worker &worker) {
    const Member *thread = &member_of(worker);
    while (thread->index == 0 && thread->team->outer)
        thread = thread->team->encountering;
    // Above 0: a free agent has no number in the team.
    Team &team = *thread->team;
    if (thread->index <= 0 || (team.active_level != 1 && !team.threads) || !team.is_region())
        return nullptr;
    ValueSet *const set = team.values.load(std::memory_order_acquire);
    return &(set ? *set : team.kept_values->take(team.values, team.size)).threads[thread->index];
}

Team *make_team(int size, int workers) {
    auto *team = new (checked_alloc(alignof(Team), sizeof(Team))) Team;
    const auto count = static_cast<std::size_t>(size);
    team->size = size;
    team->workers = workers > 0 ? workers : size;
    team->slots =
        static_cast<sched::Slot **>(checked_alloc(kCacheLine, count * sizeof(sched::Slot *)));
    for (int i = 0; i < size; ++i) {
        auto *member = new (checked_alloc(alignof(Member), sizeof(Member))) Member;
        member->team = team;
        member->group = team;
        member->index = i;
        member->alone = size == 1;
        member->random = static_cast<std::uint32_t>(i) * 2654435761u + 1;
        member->own_task = &member->implicit;
        member->implicit.team = team;
        member->implicit.tool = &member->record;
        team->slots[i] = member;
    }
    if (sched::ordered())
        sched::make_queues(*team);
    return team;
}

void drop_team(Team *team) {
    if (TeamExtension *const workshares = team->workshares.load(std::memory_order_acquire))
        workshares->drop();
    for (int i = 0; i < team->size; ++i) {
        Member &member = team->member(i);
        member.~Member();
        std::free(&member);
    }
    sched::drop_queues(*team);
    std::free(team->slots);
    team->~Team();
    std::free(team);
}

// All threads, and all tasks have finished.
static bool has_all_arrived(const Team &team) {
    const std::int64_t all = team.arrived.load(std::memory_order_acquire);
    // Read afterwards, for a thread that cancels does so before it arrives at the join.
    const std::int64_t counted =
        team.cancelled.load(std::memory_order_relaxed) ? all / Team::kJoin : all % Team::kJoin;
    return counted == team.size &&
           (!team.has_tasks.load(std::memory_order_acquire) || team.quiescent());
}

bool Team::can_settle() const {
    return has_all_arrived(*this) || (of_agents && are_agents_called());
}

// Only a thread of the team (or a worker with a slot in it) comes here. So nobody can be late
// enough to settle the barrier after this one.
void Team::settle() {
    std::int64_t all = arrived.load(std::memory_order_relaxed);
    const bool at_join = cancelled.load(std::memory_order_relaxed);
    if ((at_join ? all / kJoin : all % kJoin) != size ||
        !arrived.compare_exchange_strong(all, 0, std::memory_order_acq_rel)) {
        if (of_agents) // at no barrier
            answer_calls();
        return;
    }
    // All threads read their lines.
    forget_tasks();
    if (share_cancelled.load(std::memory_order_relaxed))
        share_cancelled.store(false, std::memory_order_relaxed);
    barrier.open(*this);
}

void arrive(Team &team, std::int64_t at_join, int threads) {
    const std::int64_t more = (1 + at_join) * threads;
    const std::int64_t arrived = team.arrived.fetch_add(more, std::memory_order_acq_rel) + more;
    const auto all = static_cast<std::uint32_t>(team.size);
    if ((static_cast<std::uint32_t>(arrived) == all ||
         team.cancelled.load(std::memory_order_relaxed)) &&
        has_all_arrived(team))
        team.settle();
}

} // namespace sennit::omp

namespace sennit {

namespace {

// Each set of values that a task ever had while others could inherit it is kept once, for the life
// of the process.
struct Interned {
    Icvs icvs;
    Interned *next;
};
constexpr std::size_t kBuckets = 64;
std::atomic<Interned *> g_interned[kBuckets];

const Icvs *intern(const Icvs &icvs) {
    std::uint64_t hash = 0;
    for (const long value : {long{icvs.nthreads[0]}, long{icvs.nthreads[icvs.nthreads_count - 1]},
                             icvs.chunk, long{icvs.max_active_levels}, long{icvs.thread_limit}})
        hash = hash_after(hash, static_cast<std::uint64_t>(value));
    std::atomic<Interned *> &bucket = g_interned[hash >> 58];
    // A list that only grows at its head. Entries never change. Two threads may add the same.
    Interned *first = bucket.load(std::memory_order_acquire);
    for (const Interned *at = first; at; at = at->next)
        if (at->icvs == icvs)
            return &at->icvs;
    void *memory = std::malloc(sizeof(Interned));
    if (!memory)
        fatal("no memory for a task's settings (%zu bytes)", sizeof(Interned));
    auto *fresh = new (memory) Interned{icvs, first};
    while (!bucket.compare_exchange_weak(fresh->next, fresh, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return &fresh->icvs;
}

} // namespace

IcvUpdate::IcvUpdate(sched::Worker &worker) : worker_(worker), changed_(*worker.task->icvs) {}

IcvUpdate::~IcvUpdate() {
    Task &task = *worker_.task;
    if (changed_ == *task.icvs)
        return;
    // Nobody can have inherited the values of an implicit task before its team has tasks.
    if (!task.is_explicit() && !task.team->has_tasks.load(std::memory_order_relaxed)) {
        Icvs &own = omp::member_of(worker_).own_icvs;
        own = changed_;
        task.icvs = &own;
    } else {
        task.icvs = intern(changed_);
    }
}

} // namespace sennit
