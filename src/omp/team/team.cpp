// SPDX-License-Identifier: Apache-2.0
#include "omp/team/team.h"

#include "base/config.h"
#include "base/message.h"
#include "omp/team/commons.h"
#include "omp/team/entry.h"
#include "omp/team/free_agents.h"
#include "omp/team/region_events.h"
#include "omp/team/thread_events.h"
#include "poll/poll.h"
#include "sched/processors.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sched.h>
#include <unistd.h>

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

// Waiting at a gate. Buries only tasks of the team: at a barrier, at the join and at the dock the
// team cannot go on before all of them are finished.
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
        // Without tasks the last to arrive settles, and a look at `arrived` would only slow him.
        if (team_.has_tasks.load(std::memory_order_relaxed) && worth_a_look() && team_.can_settle())
            team_.settle();
        return holds();
    }
    bool holds() const override {
        return gate_.epoch_.load(std::memory_order_seq_cst) != seen_ ||
               (cancellable_ && team_.cancelled.load(std::memory_order_seq_cst));
    }

  private:
    // Who still runs tasks writes for each of them what the look at all counts reads: one that is
    // too early costs him a cache miss or two. So not before the own tasks are done, and then ever
    // more seldom, until the own counts say that more has happened. Who parks looks in idle().
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

namespace {

// ---- hot teams ------------------------------------------------------------------------------

constexpr int kMostCachedTeams = 4;

// What we keep for a thread that forks.
struct Home {
    Team *initial = nullptr;
    Team *cached = nullptr; // most recently used first
};

std::atomic<int> g_active{1}; // threads of active regions

void *checked_alloc(std::size_t align, std::size_t size) {
    const std::size_t rounded = (size + align - 1) & ~(align - 1);
    void *memory = std::aligned_alloc(align, rounded);
    if (!memory)
        fatal("no memory for a team of threads (%zu bytes): lower OMP_NUM_THREADS", size);
    return memory;
}

} // namespace

Team *make_team(int size) {
    auto *team = new (checked_alloc(alignof(Team), sizeof(Team))) Team;
    const auto count = static_cast<std::size_t>(size);
    team->size = size;
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

namespace {

Home &home_of(sched::Worker &worker) {
    if (SENNIT_UNLIKELY(!worker.room))
        worker.room = new (checked_alloc(alignof(Home), sizeof(Home))) Home;
    return *static_cast<Home *>(worker.room);
}

void start_implicit(sched::Worker &worker, Member &member) {
    Task &task = member.implicit;
    const Team &team = *member.team;
    task.parent = team.encountering_task;
    task.icvs = team.icvs;
    task.taskgroup = nullptr;
    task.flags = Task::kImplicit;
    task.spawned = 0;
    task.folded.store(false, std::memory_order_relaxed);
    task.pending.store(0, std::memory_order_relaxed);
    task.home.store(&worker, std::memory_order_relaxed);
    member.work.begun = 0;
    member.work.singles = 0;
    member.work.doacross_begun = 0;
    member.work.loop = nullptr; // a cancelled region may have left one
    member.work.doacross = nullptr;
    worker.task = &task;
    worker.slot = &member;
    enter_place(member);
}

// Count the thread in: at a barrier, or at the end of its implicit task.
void arrive(Team &team, std::int64_t at_join) {
    const std::int64_t arrived = team.arrived.fetch_add(1 + at_join, std::memory_order_acq_rel) + 1;
    const auto all = static_cast<std::uint32_t>(team.size);
    if ((static_cast<std::uint32_t>(arrived) == all ||
         team.cancelled.load(std::memory_order_relaxed)) &&
        team.can_settle())
        team.settle();
}

void docked_thread(void *argument) {
    auto &member = *static_cast<Member *>(argument);
    Team &team = *member.team;
    sched::Worker &worker = *sched::Worker::self();
    fiber::set_fp_control(team.control);
    worker.enter(member);
    member.dock(team.fork.word());
    worker.slot = &member;
    if (ompt::on())
        ompt::worker_begin();
    for (;;) {
        worker.task = &member.implicit;
        pass(worker, member, team.fork, member.regions_seen);
        member.undock();
        if (team.disband)
            break;
        start_implicit(worker, member);
        if (ompt::on())
            ompt::implicit_task_begin(member);
        team.body(member, team.data);
        task::retire_implicit(worker, member.implicit);
        // From here on the thread only helps with what is left of the region.
        member.dock(team.fork.word());
        if (ompt::on()) {
            ompt::implicit_task_leaves(member);
            const std::uint32_t seen = team.barrier.epoch();
            arrive(team, Team::kJoin);
            pass(worker, member, team.barrier, seen);
            ompt::implicit_task_end(member);
        } else {
            arrive(team, Team::kJoin);
        }
    }
    if (ompt::on()) {
        disband_idle_teams(worker);
        ompt::worker_end();
    }
    worker.leave(member);
    worker.task = nullptr;
    worker.slot = nullptr;
    worker.join_pool();
    // Last: the team may be gone after this.
    team.at_home.fetch_add(1, std::memory_order_release);
    futex_wake(team.at_home);
}

void disband(Team *team) {
    team->disband = true;
    team->fork.open(*team);
    const auto others = static_cast<std::uint32_t>(team->size - 1);
    for (std::uint32_t home; (home = team->at_home.load(std::memory_order_acquire)) != others;)
        futex_wait(team->at_home, home);
    while (team->visitors.load(std::memory_order_acquire) != 0)
        sched_yield(); // one is about to leave
    drop_team(team);
}

// Free the threads of teams that are not in use. False when there are none.
bool disband_unused(Home &home) {
    bool any = false;
    for (Team **at = &home.cached; *at;) {
        Team *team = *at;
        if (team->in_use || team->size == 1) {
            at = &team->next_cached;
            continue;
        }
        *at = team->next_cached;
        disband(team);
        any = true;
    }
    return any;
}

// A team of up to `size` threads, docked and ready to fork.
Team *assemble(Home &home, int size) {
    Team *team = make_team(size);
    for (int i = 1; i < size; ++i) {
        if (sched::Worker::start(docked_thread, &team->member(i)))
            continue;
        if (disband_unused(home)) {
            --i;
            continue;
        }
        // Not so many threads to be had. Those who came have seen the size: begin anew with less.
        for (int missing = i; missing < size; ++missing)
            team->at_home.fetch_add(1, std::memory_order_relaxed);
        disband(team);
        return assemble(home, i);
    }
    return team;
}

Team &take_team(sched::Worker &worker, int size, int level) {
    Home &home = home_of(worker);
    if (Team *last = home.cached;
        last && !last->in_use && last->asked == size && last->level == level)
        return *last;
    int unused = 0;
    Team **oldest = nullptr;
    Team **fitting = nullptr;
    for (Team **at = &home.cached; *at; at = &(*at)->next_cached) {
        Team *team = *at;
        if (team->in_use)
            continue;
        // Better one of this level, whose threads are where they belong and have the teams that
        // they need for the next level.
        if (team->asked == size && (!fitting || team->level == level)) {
            fitting = at;
            if (team->level == level)
                break;
        }
        ++unused;
        oldest = at;
    }
    if (fitting) {
        Team *team = *fitting;
        *fitting = team->next_cached;
        team->next_cached = home.cached;
        home.cached = team;
        return *team;
    }
    if (unused >= kMostCachedTeams) {
        Team *team = *oldest;
        *oldest = team->next_cached;
        disband(team);
    }
    Team *team = assemble(home, size);
    team->asked = size;
    team->next_cached = home.cached;
    home.cached = team;
    return *team;
}

// Threads of active regions. How crowded the machine is was decided by the last region that began:
// after the join its threads still wait awake for a while.
void begin_active(int threads) {
    const int active = g_active.fetch_add(threads, std::memory_order_relaxed) + threads;
    sched::set_active_workers(active);
}
void end_active(int threads) {
    g_active.fetch_sub(threads, std::memory_order_relaxed);
}

} // namespace

bool Team::can_settle() const {
    const std::int64_t all = arrived.load(std::memory_order_acquire);
    // Read afterwards: who cancels does so before he arrives at the join.
    const std::int64_t counted =
        cancelled.load(std::memory_order_relaxed) ? all / kJoin : all % kJoin;
    return counted == size && (!has_tasks.load(std::memory_order_acquire) || quiescent());
}

// Only a thread of the team (or a worker with a slot in it) comes here, so nobody can be so late as
// to settle the barrier after this one.
void Team::settle() {
    std::int64_t all = arrived.load(std::memory_order_relaxed);
    const bool at_join = cancelled.load(std::memory_order_relaxed);
    if ((at_join ? all / kJoin : all % kJoin) != size ||
        !arrived.compare_exchange_strong(all, 0, std::memory_order_acq_rel))
        return;
    // Everybody reads their lines.
    forget_tasks();
    if (share_cancelled.load(std::memory_order_relaxed))
        share_cancelled.store(false, std::memory_order_relaxed);
    barrier.open(*this);
}

namespace {

template <bool kTool>
Team &start_region(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    Member &encountering = member_of(worker);
    const int level = encountering.team->level + 1;
    if (level > 1) // tasks outside of regions start when they are made
        worker.note_control();
    Team &team = take_team(worker, size, level);
    team.in_use = true;
    team.kind = kind;
    team.outer = encountering.team;
    team.encountering = &encountering;
    team.encountering_task = worker.task;
    team.level = level;
    team.active_level = encountering.team->active_level + (team.size > 1 ? 1 : 0);
    team.league = encountering.team->league;
    team.contention = encountering.team->contention;
    team.counted = worker.task->icvs->has_thread_limit() ? size - 1 : 0;
    team.icvs = worker.task->icvs;
    team.body = body;
    team.data = data;
    team.reductions = nullptr;
    place_team(team, encountering);
    team.forget_workshares();
    if (team.cancelled.load(std::memory_order_relaxed))
        team.cancelled.store(false, std::memory_order_relaxed);
    if (kTool)
        ompt::parallel_begin(worker, team);
    if (team.size > 1) {
        begin_active(team.size - 1);
        team.fork.open(team);
    }
    Member &first = team.member(0);
    worker.enter(first);
    start_implicit(worker, first);
    if (kTool)
        ompt::implicit_task_begin(first);
    return team;
}

template <bool kTool>
void end_region(sched::Worker &worker) {
    Member &first = member_of(worker);
    Team &team = *first.team;
    task::retire_implicit(worker, first.implicit);
    if (kTool)
        ompt::implicit_task_leaves(first);
    if (team.size > 1 || team.has_tasks.load(std::memory_order_relaxed)) {
        const std::uint32_t seen = team.barrier.epoch();
        arrive(team, Team::kJoin);
        pass(worker, first, team.barrier, seen);
    }
    if (kTool)
        ompt::implicit_task_end(first);
    first.outside = false; // see begin_initial
    worker.leave(first);
    worker.task = team.encountering_task;
    worker.slot = team.encountering;
    leave_region(*team.encountering);
    if (team.size > 1)
        end_active(team.size - 1);
    if (SENNIT_UNLIKELY(team.counted > 0))
        team.contention->threads.fetch_sub(team.counted, std::memory_order_relaxed);
    if (kTool)
        ompt::parallel_end(team, *worker.task);
    team.in_use = false;
}

} // namespace

Team &fork(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    if (ompt::on())
        return start_region<true>(worker, size, body, data, kind);
    return start_region<false>(worker, size, body, data, kind);
}

void join(sched::Worker &worker) {
    if (ompt::on())
        end_region<true>(worker);
    else
        end_region<false>(worker);
}

void parallel(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    Team &team = fork(worker, size, body, data, kind);
    body(team.member(0), data);
    join(worker);
}

void parallel_told(sched::Worker &worker, ompt::Site site, int size, Body body, void *data) {
    const ompt::Entry entry(site);
    parallel(worker, size, body, data);
}

void begin_serialized_told(ompt::Site site, void *const *frame) {
    ompt::Entry entry(site);
    ompt::t_thread.requested = 1;
    Team &team = fork(entry.worker(), 1, nullptr, nullptr, Team::Kind::opened);
    ompt::stay_in_application(team.member(0).record, site, *frame);
    entry.stay();
}

void end_serialized_told(ompt::Site site) {
    const ompt::Entry entry(site);
    Member &member = member_of(entry.worker());
    member.team->tool.code = entry.code();
    join(entry.worker());
    member.record.frame = {};
    entry.record().frame.enter = nullptr;
}

Member &begin_initial(sched::Worker &worker, League league, Body body, void *data,
                      const Icvs *icvs) {
    Team &team = fork(worker, 1, body, data, Team::Kind::initial);
    team.league = league;
    team.contention = &team.own_contention;
    team.level = 0;
    team.active_level = 0;
    Member &member = team.member(0);
    member.implicit.flags = Task::kInitial;
    member.outside = true;
    if (icvs)
        member.implicit.icvs = icvs;
    if (ompt::on())
        ompt::initial_task_begin(member);
    return member;
}

int ContentionGroup::reserve(int size, int limit) {
    int before = threads.load(std::memory_order_relaxed);
    int more;
    do {
        more = std::max(std::min(size - 1, limit - before), 0);
    } while (!threads.compare_exchange_weak(before, before + more, std::memory_order_relaxed));
    return 1 + more;
}

// nthreads-var for a region that a thread of `team` encounters.
static int next_size(const Team &team, const Icvs &icvs) {
    return icvs.nthreads[team.level < icvs.nthreads_count ? team.level : icvs.nthreads_count - 1];
}

bool barrier(sched::Worker &worker) {
    Member &member = member_of(worker);
    Team &team = *member.team;
    if (SENNIT_UNLIKELY(team.cancelled.load(std::memory_order_relaxed)))
        return true;
    const std::uint32_t seen = team.barrier.epoch();
    arrive(team, 0);
    pass(worker, member, team.barrier, seen, true);
    return team.cancelled.load(std::memory_order_relaxed);
}

int region_size(sched::Worker &worker, int wanted, bool parallel) {
    const Icvs &icvs = *worker.task->icvs;
    const Team &team = *member_of(worker).team;
    if (ompt::on())
        ompt::t_thread.requested = static_cast<unsigned>(!parallel    ? 1
                                                         : wanted > 0 ? wanted
                                                                      : next_size(team, icvs));
    if (!parallel || team.active_level >= icvs.max_active_levels)
        return 1;
    int size = wanted > 0 ? wanted : next_size(team, icvs);
    if (icvs.dynamic && size > sched::processors())
        size = sched::processors();
    return icvs.has_thread_limit() ? team.contention->reserve(size, icvs.thread_limit)
                                   : std::min(size, kNoThreadLimit);
}

namespace {

bool is_outside(sched::Worker &worker) {
    Team *const initial = home_of(worker).initial;
    return initial && worker.slot == &initial->member(0) &&
           worker.task == &initial->member(0).implicit;
}

// A thread of the program's that has used OpenMP ends, outside of all regions. Tasks that it has
// created are done before; under other runtimes they were when they had been created.
void thread_ends(sched::Worker &worker) {
    if (!is_outside(worker))
        return;
    const Home &home = home_of(worker);
    if (home.initial->has_tasks.load(std::memory_order_relaxed))
        barrier(worker);
    task::retire_implicit(worker, *worker.task);
    disband_idle_teams(worker);
}

// The program ends. The same of tasks that are suspended; one that has ended but for an event is
// nothing to wait for, nor is one in a call of MPI, which somebody else has given up.
pid_t g_process = 0;
void process_ends() {
    sched::Worker *worker = sched::Worker::self();
    if (worker && getpid() == g_process && is_initial_thread() && is_outside(*worker) &&
        worker->has_parked() && !poll::pending())
        barrier(*worker);
}

// Ends the tasks while thread-local objects that were made before the thread's first use of OpenMP
// are there. Not those of the initial thread, which ends with the program.
struct LastTasks {
    bool used = false;
    ~LastTasks() {
        sched::Worker *worker = sched::Worker::self();
        if (worker && !is_initial_thread())
            thread_ends(*worker);
    }
};
thread_local LastTasks t_last_tasks;

} // namespace

// Teams of initial threads, those that have ended too; the list only grows, at its front.
static std::atomic<Team *> g_initial_teams{nullptr};

bool tasks_left_outside() {
    for (const Team *team = g_initial_teams.load(std::memory_order_acquire); team;
         team = team->next_initial)
        if (team->has_tasks.load(std::memory_order_acquire) && !team->quiescent())
            return true;
    return false;
}

sched::Worker &attach() {
    sched::Worker &worker = sched::Worker::here();
    if (ompt::on())
        ompt::g_before_first_use();
    Home &home = home_of(worker);
    if (!home.initial) {
        icv_first_use();
        home.initial = make_team(1);
        home.initial->icvs = &global_icvs().initial;
        home.initial->contention = &home.initial->own_contention;
        home.initial->member(0).outside = true;
        Team *first = g_initial_teams.load(std::memory_order_relaxed);
        do
            home.initial->next_initial = first;
        while (!g_initial_teams.compare_exchange_weak(
            first, home.initial, std::memory_order_release, std::memory_order_relaxed));
    }
    Member &member = home.initial->member(0);
    home.initial->forget_workshares(); // of a thread that has ended
    worker.enter(member);
    start_implicit(worker, member);
    member.implicit.flags = Task::kInitial;
    sched::at_thread_end(thread_ends);
    if (is_initial_thread() && g_process == 0) {
        g_process = getpid();
        std::atexit(process_ends);
    }
    if (ompt::on())
        ompt::initial_thread_begin(worker);
    t_last_tasks.used = true; // after what ompt/ makes, which goes after it
    return worker;
}

bool is_initial_thread() {
    return gettid() == getpid();
}

void disband_idle_teams(sched::Worker &worker) {
    for (Team **at = &home_of(worker).cached; *at;) {
        Team *team = *at;
        if (team->in_use) {
            at = &team->next_cached;
            continue;
        }
        *at = team->next_cached;
        disband(team);
    }
}

void release_threads(sched::Worker &worker) {
    disband_idle_teams(worker);
    sched::Worker::retire_threads();
}

void team_after_fork_in_child() {
    sched::Worker *worker = sched::Worker::self();
    g_active.store(1, std::memory_order_relaxed);
    g_initial_teams.store(nullptr, std::memory_order_relaxed);
    if (worker && worker->room) {
        Home &home = home_of(*worker);
        home.cached = nullptr; // their threads stayed in the parent
        if (home.initial) {
            home.initial->next_initial = nullptr;
            g_initial_teams.store(home.initial, std::memory_order_relaxed);
        }
    }
    commons_after_fork_in_child();
    free_agents_after_fork_in_child();
}

} // namespace sennit::omp
