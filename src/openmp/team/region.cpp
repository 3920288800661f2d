// SPDX-License-Identifier: Apache-2.0
// Regions: fork, join, barrier, and how many threads they get.
#include "openmp/team/team.h"

#include "base/message.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/placement.h"
#include "openmp/team/region_events.h"
#include "openmp/team/spare_threads.h"
#include "openmp/team/virtual_team.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/threads.h"
#include "tasks/task/accounts.h"
#include "tasks/trace/spent_time.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace sennit::omp {
namespace {

std::atomic<int> g_active{1}; // threads of active regions

// Threads of active regions. The last region that began decided how crowded the machine is. After
// the join its threads still wait awake for a while.
void begin_active(sched::Worker &worker, int threads) {
    const int active = g_active.fetch_add(threads, std::memory_order_relaxed) + threads;
    sched::set_active_workers(active);
    if (sched::crowded()) // it may arrive last at all barriers, and never wait
        worker.thread.note_processor();
}
void end_active(int threads) {
    g_active.fetch_sub(threads, std::memory_order_relaxed);
}

} // namespace

int active_threads() {
    return g_active.load(std::memory_order_relaxed);
}

namespace {

// What only some regions need and pay for: a tool is attached; threads may outnumber workers, a
// trace is recorded, tasks work for accounts, or free agents wait for processors.
enum Extras : unsigned { kNone = 0, kTool = 1, kVirtual = 2 };

unsigned extras() {
    return ompt::on() ? kTool : SENNIT_UNLIKELY(regions_differ()) ? kVirtual : kNone;
}

// Called before its threads begin. A region of one thread is always balanced.
SENNIT_COLD void trace_begin(Team &team) {
    static std::atomic<std::uint64_t> numbers{0};
    team.traced = 0;
    if (!team.is_region() || team.size == 1)
        return;
    team.traced = numbers.fetch_add(1, std::memory_order_relaxed) + 1;
    trace::count_region();
    begin_traced_part(team);
}

Team *outermost_of(Team &team) {
    return team.outer->active_level > 0 ? team.outer->outermost : &team;
}

// How many threads a region has, and whose workers run them.
struct Shape {
    int size;
    Split split = Split::none;
    InnerOffer offer{};
};

// Of a region that asks for `size` threads where threads are split.
Shape shape_of(sched::Worker &worker, int size, const void *data, Team::Kind kind) {
    const Team &outer = *member_of(worker).team;
    if (kind > Team::Kind::opened || size == 1)
        return {size};
    if (outer.active_level == 0)
        return {size, size > split_workers() && split_workers() != 0 && !split_ends()
                          ? Split::outer
                          : Split::none};
    if (!worker.task->icvs->cuts_inner)
        return {size};
    if (kind == Team::Kind::exact && split_ends()) // as without splitting
        return {size};
    const InnerOffer offer =
        offer_inner(worker, outer, size, function_of(data), kind == Team::Kind::exact);
    return offer.threads == 0 ? Shape{1} : Shape{size, Split::inner, offer};
}

template <unsigned kExtras>
[[gnu::always_inline]] inline Team &start_region(sched::Worker &worker, int size, Body body,
                                                 void *data, Team::Kind kind) {
    Member &encountering = member_of(worker);
    const int level = encountering.team->level + 1;
    if (level > 1) // tasks outside of regions start when they are made
        worker.slot->note_control(worker.task);
    const Shape shape = kExtras == kVirtual ? shape_of(worker, size, data, kind) : Shape{size};
    const bool is_virtual = kExtras == kVirtual && shape.split != Split::none;
    Team &team = take_team(worker, shape.size, shape.split, level);
    const int workers = kExtras == kVirtual ? team.workers : team.size;
    team.in_use = true;
    team.kind = kind;
    team.outer = encountering.team;
    team.encountering = &encountering;
    team.encountering_task = worker.task;
    if (level > 1) // else it stays 0, for a team has a level for good
        team.inherited = worker.task->flags & Task::kHandsOn;
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
    if (kExtras == kTool)
        ompt::parallel_begin(worker, team);
    if (kExtras == kVirtual)
        team.outermost = outermost_of(team);
    if (is_virtual) {
        team.threads->note_offer(shape.offer);
        team.threads->begin(team);
    }
    if (kExtras != kNone && SENNIT_UNLIKELY(trace::on()))
        trace_begin(team);
    if (workers > 1) {
        begin_active(worker, workers - 1);
        team.fork.open(team);
    }
    Member &first = team.member(0);
    worker.enter(first);
    if (is_virtual)
        team.threads->begin_part(worker, team, first);
    start_implicit(worker, first);
    if (kExtras != kNone && observed::by(observed::kAccounts))
        task::begin_implicit_work(worker, first.implicit, *team.encountering_task);
    if (kExtras == kTool)
        ompt::implicit_task_begin(first);
    return team;
}

template <unsigned kExtras>
[[gnu::always_inline]] inline void end_region(sched::Worker &worker) {
    Member &first = member_of(worker);
    Team &team = *first.team;
    const bool is_virtual = kExtras == kVirtual && team.threads != nullptr;
    const int workers = kExtras == kVirtual ? team.workers : team.size;
    task::retire_implicit(worker, first.implicit);
    if (kExtras == kTool)
        ompt::implicit_task_leaves(first);
    const int ended = is_virtual ? 1 + team.threads->run_others(worker, team, first) : 1;
    if (team.size > 1 || team.has_tasks.load(std::memory_order_relaxed)) {
        const std::uint32_t seen = team.barrier.epoch();
        arrive(team, Team::kJoin, ended);
        pass(worker, first, team.barrier, seen);
    } else { // no barrier has settled it
        team.share_cancelled.store(false, std::memory_order_relaxed);
    }
    if (kExtras != kNone && SENNIT_UNLIKELY(trace::on()))
        end_traced_part(team);
    if (kExtras == kTool)
        ompt::implicit_task_end(first, team.kind);
    first.outside = false; // see begin_initial
    worker.leave(first);
    worker.task = team.encountering_task;
    worker.slot = team.encountering;
    if (kExtras != kNone && observed::by(observed::kAccounts))
        task::go_on_working(worker);
    leave_region(*team.encountering);
    if (workers > 1)
        end_active(workers - 1);
    if (kExtras == kVirtual && observed::by(observed::kFreeAgents))
        call_agents_after(team);
    if (is_virtual)
        team.threads->end();
    if (kExtras == kVirtual && SENNIT_UNLIKELY(team.values.load(std::memory_order_relaxed)))
        team.kept_values->give_back(team.values);
    if (SENNIT_UNLIKELY(team.counted > 0))
        team.contention->threads.fetch_sub(team.counted, std::memory_order_relaxed);
    if (kExtras == kTool)
        ompt::parallel_end(team, *worker.task);
    team.in_use = false;
}

} // namespace

Team &fork(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    switch (extras()) {
    case kTool:
        return start_region<kTool>(worker, size, body, data, kind);
    case kVirtual:
        return start_region<kVirtual>(worker, size, body, data, kind);
    default:
        return start_region<kNone>(worker, size, body, data, kind);
    }
}

void join(sched::Worker &worker) {
    switch (extras()) {
    case kTool:
        return end_region<kTool>(worker);
    case kVirtual:
        return end_region<kVirtual>(worker);
    default:
        return end_region<kNone>(worker);
    }
}

static SENNIT_COLD void run_with_extras(sched::Worker &worker, int size, Body body, void *data,
                                        Team::Kind kind) {
    Team &team = fork(worker, size, body, data, kind);
    body(team.member(0), data);
    join(worker);
}

// A region of one thread has nothing of threads that are split.
static SENNIT_NOINLINE void run_where_regions_differ(sched::Worker &worker, int size, Body body,
                                                     void *data, Team::Kind kind) {
    if (size != 1 || ompt::on() ||
        observed::by(observed::kTrace | observed::kAccounts | observed::kFreeAgents))
        return run_with_extras(worker, size, body, data, kind);
    Team &team = start_region<kNone>(worker, 1, body, data, kind);
    team.outermost = outermost_of(team);
    body(team.member(0), data);
    end_region<kNone>(worker);
}

static SENNIT_NOINLINE void run_region(sched::Worker &worker, int size, Body body, void *data,
                                       Team::Kind kind) {
    Team &team = start_region<kNone>(worker, size, body, data, kind);
    body(team.member(0), data);
    end_region<kNone>(worker);
}

// It jumps to one of them: neither pays for what the other one keeps in registers.
void parallel(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    if (SENNIT_UNLIKELY(extras() != kNone))
        return run_where_regions_differ(worker, size, body, data, kind);
    run_region(worker, size, body, data, kind);
}

void parallel_told(sched::Worker &worker, ompt::Site site, int size, Body body, void *data,
                   Team::Kind kind) {
    const ompt::InRoutine routine(site);
    parallel(worker, size, body, data, kind);
}

void begin_serialized_told(ompt::Site site, void *const *frame) {
    ompt::InRoutine routine(site);
    ompt::t_thread.requested = 1;
    Team &team = fork(routine.worker(), 1, nullptr, nullptr, Team::Kind::opened);
    ompt::stay_in_application(team.member(0).record, site, *frame);
    routine.stay();
}

void end_serialized_told(ompt::Site site) {
    const ompt::InRoutine routine(site);
    Member &member = member_of(routine.worker());
    member.team->tool.code = routine.code();
    join(routine.worker());
    member.record.frame = {};
    routine.record().frame.enter = nullptr;
}

Member &begin_initial(sched::Worker &worker, League league, Body body, void *data,
                      const Icvs *icvs) {
    Team &team = fork(worker, 1, body, data, Team::Kind::initial);
    team.league = league;
    team.contention = &team.own_contention;
    team.level = 0;
    team.active_level = 0;
    Member &member = team.member(0);
    member.implicit.flags = Task::kInitial | (member.implicit.flags & Task::kWorksFor);
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

// An inner region that is not cut: there is nothing more to look at.
[[gnu::always_inline]] static inline bool is_quiet(const sched::Worker &worker, const Team &outer,
                                                   const void *function) {
    const auto *const home = static_cast<const Home *>(worker.room);
    return home && home->inner &&
           home->inner->is_quiet(function, outer.outermost->idle.load(std::memory_order_relaxed));
}

[[gnu::always_inline]] static inline int asked_size(const Team &team, const Icvs &icvs,
                                                    int wanted) {
    int size = wanted > 0 ? wanted : next_size(team, icvs);
    if (icvs.dynamic && size > sched::processors())
        size = sched::processors();
    return icvs.has_thread_limit() ? team.contention->reserve(size, icvs.thread_limit)
                                   : std::min(size, kNoThreadLimit);
}

// Beyond max-active-levels-var, where inner regions are cut.
static SENNIT_NOINLINE int size_of_inner(const sched::Worker &worker, int wanted,
                                         const void *function) {
    const Team &team = *static_cast<const Member *>(worker.slot)->team;
    return is_quiet(worker, team, function) ? 1 : asked_size(team, *worker.task->icvs, wanted);
}

int region_size(sched::Worker &worker, int wanted, bool parallel, const void *function) {
    const Icvs &icvs = *worker.task->icvs;
    const Team &team = *member_of(worker).team;
    if (ompt::on())
        ompt::t_thread.requested = static_cast<unsigned>(!parallel    ? 1
                                                         : wanted > 0 ? wanted
                                                                      : next_size(team, icvs));
    if (!parallel)
        return 1;
    if (team.active_level < icvs.max_active_levels)
        return asked_size(team, icvs, wanted);
    return icvs.cuts_inner ? size_of_inner(worker, wanted, function) : 1;
}

void regions_after_fork_in_child() {
    g_active.store(1, std::memory_order_relaxed);
}

namespace {

constexpr int kMostCachedTeams = 4;

} // namespace

Home &home_of(sched::Worker &worker) {
    if (SENNIT_UNLIKELY(!worker.room)) {
        void *memory = std::malloc(sizeof(Home));
        if (!memory)
            fatal("no memory for the teams of a thread (%zu bytes)", sizeof(Home));
        worker.room = new (memory) Home;
    }
    return *static_cast<Home *>(worker.room);
}

namespace {

SENNIT_COLD void begin_observed_part(sched::Worker &worker, Member &member) {
    const Team &team = *member.team;
    begin_traced_part(team);
    if (observed::by(observed::kAccounts))
        task::begin_implicit_work(worker, member.implicit, *team.encountering_task);
}

SENNIT_COLD void end_observed_part(sched::Worker &worker, Member &member) {
    if (observed::by(observed::kAccounts))
        task::end_implicit_work(worker, member.implicit);
    end_traced_part(*member.team);
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
        if (SENNIT_UNLIKELY(team.threads != nullptr))
            team.threads->begin_part(worker, team, member);
        start_implicit(worker, member);
        if (observed::by(observed::kTrace | observed::kAccounts))
            begin_observed_part(worker, member);
        if (ompt::on())
            ompt::implicit_task_begin(member);
        team.body(member, team.data);
        task::retire_implicit(worker, member.implicit);
        const int ended = SENNIT_UNLIKELY(team.threads != nullptr)
                              ? 1 + team.threads->run_others(worker, team, member)
                              : 1;
        if (observed::by(observed::kTrace | observed::kAccounts))
            end_observed_part(worker, member);
        // From here on the thread only helps with what is left of the region.
        member.dock(team.fork.word());
        if (ompt::on()) {
            const Team::Kind kind = team.kind;
            ompt::implicit_task_leaves(member);
            const std::uint32_t seen = team.barrier.epoch();
            arrive(team, Team::kJoin);
            pass(worker, member, team.barrier, seen);
            ompt::implicit_task_end(member, kind);
        } else {
            arrive(team, Team::kJoin, ended);
        }
    }
    if (ompt::on()) {
        disband_idle_teams(worker);
        ompt::worker_end();
    }
    worker.leave(member);
    worker.task = nullptr;
    worker.slot = nullptr;
    sched::join_pool(worker);
    // This comes last: the team may be gone after it.
    team.at_home.fetch_add(1, std::memory_order_release);
    futex_wake(team.at_home);
}

void disband(Team *team) {
    team->disband = true;
    team->fork.open(*team);
    const auto others = static_cast<std::uint32_t>(team->workers - 1);
    for (std::uint32_t home; (home = team->at_home.load(std::memory_order_acquire)) != others;)
        futex_wait(team->at_home, home);
    while (!is_left_by_agents(*team))
        sched_yield(); // one is about to leave
    VirtualTeam::drop(team->threads);
    drop_team(team);
}

// Free the threads of teams that are not in use. False: there are none.
bool disband_unused(Home &home) {
    bool any = false;
    for (Team **at = &home.cached; *at;) {
        Team *team = *at;
        if (team->in_use || team->workers == 1) {
            at = &team->next_cached;
            continue;
        }
        *at = team->next_cached;
        disband(team);
        any = true;
    }
    return any;
}

// A team on up to `workers` of them, ready to fork: its threads begin with its first region.
// `size`: of so many threads. 0: of as many as it has workers, if that is more than one each.
Team *assemble(Home &home, int size, int workers, Split split) {
    Team *team = make_team(std::max(size, workers), workers);
    if (workers < size)
        team->threads = VirtualTeam::make(*team, split == Split::inner);
    if (workers > 1)
        team->fork.note_recruits();
    for (int i = 1; i < workers; ++i) {
        Member &member = team->member(VirtualTeam::first_of(i, *team));
        if (team->recruits.add(docked_thread, &member))
            continue;
        if (disband_unused(home)) {
            --i;
            continue;
        }
        // There are not so many threads. Those that came have seen the size: begin anew with fewer.
        for (int missing = i; missing < workers; ++missing)
            team->at_home.fetch_add(1, std::memory_order_relaxed);
        disband(team);
        return assemble(home, size, i, split);
    }
    return team;
}

Team *assemble(Home &home, int size, Split split) {
    switch (split) {
    case Split::none:
        return assemble(home, 0, size, split);
    case Split::outer:
        return assemble(home, size, split_workers(), split);
    case Split::inner:
        break;
    }
    return assemble(home, size, 1, split);
}

// Helpers of the last region may still be in an inner team (inner_regions.h). Acquire: pairs with
// the release of those that have left. Free agents visit other teams, which go on meanwhile.
bool is_busy(const Team &team, Split wanted) {
    return team.in_use ||
           (wanted == Split::inner && team.visitors.load(std::memory_order_acquire) != 0);
}

} // namespace

Team &find_team(sched::Worker &worker, int size, Split split, int level) {
    const int key = team_key(size, split);
    Home &home = home_of(worker);
    int unused = 0;
    Team **oldest = nullptr;
    Team **fitting = nullptr;
    for (Team **at = &home.cached; *at; at = &(*at)->next_cached) {
        Team *team = *at;
        if (is_busy(*team, split))
            continue;
        // A team of this level is better. Its threads are where they belong, and have the teams
        // that they need for the next level.
        if (team->asked == key && (!fitting || team->level == level)) {
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
    Team *team = assemble(home, size, split);
    team->asked = key;
    team->kept_values = split == Split::inner ? &home.inner_values : &home.values;
    team->next_cached = home.cached;
    home.cached = team;
    return *team;
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
    sched::retire_threads();
}

// Initial threads: threads of the program that use OpenMP.

namespace {

bool is_outside(sched::Worker &worker) {
    Team *const initial = home_of(worker).initial;
    return initial && worker.slot == &initial->member(0) &&
           worker.task == &initial->member(0).implicit;
}

// A thread of the program that has used OpenMP ends, outside of all regions. First the tasks that
// it has created must be complete. Under other runtimes they were complete as soon as they had been
// created.
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
        (worker->fibers.any_parked_here() || sched::roaming_tasks().now() > 0) && !poll::pending())
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

// Teams of initial threads, also of those that have ended. The list only grows, at its front.
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

void team_after_fork_in_child() {
    sched::Worker *worker = sched::Worker::self();
    regions_after_fork_in_child();
    if (worker && worker->slot)
        if (Team *const outermost = member_of(*worker).team->outermost) {
            outermost->inner.after_fork_in_child();
            outermost->idle.store(0, std::memory_order_relaxed);
        }
    g_initial_teams.store(nullptr, std::memory_order_relaxed);
    if (worker && worker->room) {
        Home &home = home_of(*worker);
        home.cached = nullptr; // their threads stayed in the parent
        home.values.after_fork_in_child();
        home.inner_values.after_fork_in_child();
        if (home.initial) {
            home.initial->next_initial = nullptr;
            g_initial_teams.store(home.initial, std::memory_order_relaxed);
        }
    }
    spare_threads_after_fork_in_child();
    helpers_after_fork_in_child();
    commons_after_fork_in_child();
    free_agents_after_fork_in_child();
}

} // namespace sennit::omp
