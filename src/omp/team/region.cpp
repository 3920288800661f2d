// SPDX-License-Identifier: Apache-2.0
// Regions: fork, join, barrier, and how many threads they get.
#include "omp/team/entry.h"
#include "omp/team/hot_teams.h"
#include "omp/team/implicit_task.h"
#include "omp/team/part_trace.h"
#include "omp/team/placement.h"
#include "omp/team/region_events.h"
#include "omp/team/team.h"
#include "omp/team/virtual_team.h"
#include "sched/processors.h"
#include "task/accounts.h"

#include <algorithm>
#include <atomic>

namespace sennit::omp {
namespace {

std::atomic<int> g_active{1}; // threads of active regions

// Threads of active regions. The last region that began decided how crowded the machine is. After
// the join its threads still wait awake for a while.
void begin_active(sched::Worker &worker, int threads) {
    const int active = g_active.fetch_add(threads, std::memory_order_relaxed) + threads;
    sched::set_active_workers(active);
    if (sched::crowded()) // it may arrive last at all barriers, and never wait
        worker.note_processor();
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
// trace is recorded, or tasks work for accounts.
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
    begin_traced_part(team);
}

template <unsigned kExtras>
[[gnu::always_inline]] inline Team &start_region(sched::Worker &worker, int size, Body body,
                                                 void *data, Team::Kind kind) {
    Member &encountering = member_of(worker);
    const int level = encountering.team->level + 1;
    if (level > 1) // tasks outside of regions start when they are made
        worker.note_control();
    const bool is_virtual =
        kExtras == kVirtual && becomes_virtual(*encountering.team, size, kind) && !split_ends();
    Team &team = take_team(worker, team_key(size, is_virtual), level);
    const int workers = kExtras == kVirtual ? team.workers : team.size;
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
    if (kExtras == kTool)
        ompt::parallel_begin(worker, team);
    if (is_virtual)
        team.threads->begin(team);
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

void parallel(sched::Worker &worker, int size, Body body, void *data, Team::Kind kind) {
    if (extras() != kNone) {
        Team &team = fork(worker, size, body, data, kind);
        body(team.member(0), data);
        return join(worker);
    }
    Team &team = start_region<kNone>(worker, size, body, data, kind);
    body(team.member(0), data);
    end_region<kNone>(worker);
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

void regions_after_fork_in_child() {
    g_active.store(1, std::memory_order_relaxed);
}

} // namespace sennit::omp
