// SPDX-License-Identifier: Apache-2.0
// Parallel regions and their implicit tasks (OpenMP 5.2, 19.5.2.3 to 19.5.2.6, 19.5.2.13).
#include "openmp/team/region_events.h"

#include "openmp/events/events.h"
#include "openmp/team/team.h"
#include "tasks/sched/threads.h"

namespace sennit::ompt {
namespace {

using Kind = omp::Team::Kind;

unsigned size_of(const omp::Team &team) {
    return static_cast<unsigned>(team.size);
}

void region_begin(sched::Worker &worker, Region &region, unsigned requested, std::uint32_t flags) {
    region.data = {0};
    region.flags = flags;
    region.code = t_thread.code;
    task::ToolRecord &encountering = *worker.task->tool;
    g_tool.parallel_begin(data_of(encountering), frame_of(encountering), &region.data, requested,
                          static_cast<int>(flags), region.code);
}

void region_end(Region &region, Task &encountering) {
    g_tool.parallel_end(&region.data, data_of(*encountering.tool), static_cast<int>(region.flags),
                        region.code);
}

void begin_record(omp::Member &member) {
    t_thread.current = &member.implicit;
    member.record.data = 0;
    member.record.frame.enter = nullptr;
    member.record.state = 0;
    member.record.work = 0;
    member.record.in_single = false;
}

} // namespace

void league_begin(sched::Worker &worker, Region &region, int teams) {
    region_begin(worker, region, static_cast<unsigned>(teams), kParallelLeague | kInvokerRuntime);
}

void league_end(sched::Worker &worker, Region &region) {
    region_end(region, *worker.task);
}

void announce_team(omp::Member &initial, const Region &league, void *frame) {
    initial.record.frame.enter = frame;
    t_thread.requested = 1;
    t_thread.code = league.code;
}

void initial_task_begin(omp::Member &member) {
    const omp::League &league = member.team->league;
    begin_record(member);
    if (league.tool)
        member.team->tool = *league.tool;
    g_tool.implicit_task(kBegin, &member.team->tool.data, data_of(member.record),
                         static_cast<unsigned>(league.size), static_cast<unsigned>(league.rank),
                         kTaskInitial);
}

void parallel_begin(sched::Worker &worker, omp::Team &team) {
    if (team.kind == Kind::initial)
        team.tool = {};
    else if (team.is_region())
        region_begin(worker, team.tool, t_thread.requested,
                     kParallelTeam |
                         (team.kind == Kind::opened ? kInvokerProgram : kInvokerRuntime));
}

void parallel_end(omp::Team &team, Task &encountering) {
    t_thread.current = &encountering;
    if (team.is_region())
        region_end(team.tool, encountering);
}

void implicit_task_begin(omp::Member &member) {
    if (!member.team->is_region())
        return;
    begin_record(member);
    g_tool.implicit_task(kBegin, &member.team->tool.data, data_of(member.record),
                         size_of(*member.team), static_cast<unsigned>(member.index), kTaskImplicit);
}

namespace {

// At the end of a member's region. kNoBarrier: an initial task ends, for itself.
constexpr SyncKind kNoBarrier{};
SyncKind last_barrier(const omp::Team &team, Kind kind) {
    if (kind != Kind::initial)
        return kBarrierParallel;
    return team.league.tool ? kBarrierTeams : kNoBarrier;
}

} // namespace

void end_open_single(omp::Member &member, task::ToolRecord &record, const void *code) {
    if (!record.in_single)
        return;
    record.in_single = false;
    g_tool.work(kWorkSingleExecutor, kEnd, &member.team->tool.data, data_of(record), 1, code);
}

void implicit_task_leaves(omp::Member &member) {
    if (member.team->kind == Kind::league)
        return;
    const void *code = member.index == 0 ? member.team->tool.code : nullptr;
    end_open_single(member, member.record, code);
    const SyncKind kind = last_barrier(*member.team, member.team->kind);
    if (kind == kNoBarrier)
        return;
    Data *parallel = &member.team->tool.data;
    Data *task = data_of(member.record);
    member.record.state = kind == kBarrierTeams ? kStateBarrierTeams : kStateBarrierParallel;
    g_tool.sync_region(kind, kBegin, parallel, task, code);
    g_tool.sync_region_wait(kind, kBegin, parallel, task, code);
}

// The region's data may be the next region's by now, and only the thread that forked it knows its
// size. Here the standard has null and 0.
void implicit_task_end(omp::Member &member, Kind kind) {
    const bool primary = member.index == 0;
    if (kind == Kind::league) {
        if (!primary)
            t_thread.current = nullptr;
        return;
    }
    const void *code = primary ? member.team->tool.code : nullptr;
    Data *task = data_of(member.record);
    const SyncKind barrier = last_barrier(*member.team, kind);
    if (barrier != kNoBarrier) {
        g_tool.sync_region_wait(barrier, kEnd, nullptr, task, code);
        g_tool.sync_region(barrier, kEnd, nullptr, task, code);
    }
    member.record.state = 0;
    if (kind == Kind::initial) {
        g_tool.implicit_task(kEnd, nullptr, task, 0,
                             static_cast<unsigned>(member.team->league.rank), kTaskInitial);
        return;
    }
    g_tool.implicit_task(kEnd, nullptr, task, primary ? size_of(*member.team) : 0,
                         static_cast<unsigned>(member.index), kTaskImplicit);
}

// Threads come and go (OpenMP 5.2, 19.5.2.1, 19.5.2.2).
//
// A thread of the program is an initial thread from its first use of OpenMP to its end, or to that
// of the program. A thread of ours is an OpenMP thread while it is docked at a team.

namespace {

void thread_begin(ThreadType type) {
    if (t_thread.begun)
        return;
    t_thread.begun = true;
    t_thread.data = {0};
    g_tool.thread_begin(type, &t_thread.data);
}

void thread_end() {
    if (!t_thread.begun)
        return;
    g_tool.thread_end(&t_thread.data);
    t_thread.begun = false;
}

} // namespace

void initial_thread_end(omp::Member &initial) {
    if (!t_thread.begun)
        return;
    g_tool.implicit_task(kEnd, nullptr, data_of(initial.record), 0, 1, kTaskInitial);
    t_thread.current = nullptr;
    thread_end();
}

namespace {

// A thread of the program ends. Its worker is still its own.
void goodbye(sched::Worker &worker) {
    if (!t_thread.begun || !on() || omp::is_initial_thread()) // that one ends with the program
        return;
    initial_thread_end(omp::member_of(worker));
}

// This runs early, while what a tool keeps for the thread is still there. Later destructors may use
// OpenMP again. Then the thread is an OpenMP thread once more, and at_thread_end() is its end.
struct Goodbye {
    sched::Worker *worker = nullptr;
    ~Goodbye() {
        if (worker)
            goodbye(*worker);
    }
};
thread_local Goodbye t_goodbye;

} // namespace

void initial_thread_begin(sched::Worker &worker) {
    if (t_thread.begun) // the tool itself uses OpenMP
        return;
    omp::Member &member = omp::member_of(worker);
    thread_begin(kThreadInitial);
    t_thread.current = &member.implicit;
    member.record.data = 0;
    member.team->tool.data = {0};
    t_goodbye.worker = &worker;
    sched::at_thread_end(goodbye);
    g_tool.implicit_task(kBegin, &member.team->tool.data, data_of(member.record), 1, 1,
                         kTaskInitial);
}

void worker_begin() {
    thread_begin(kThreadWorker);
}

void worker_end() {
    thread_end();
}

InRoutine::InRoutine(Site site)
    : worker_(omp::here()), record_(worker_.task->tool), code_(site.code) {
    if (record_->frame.enter) {
        record_ = nullptr;
        code_ = t_thread.code;
        return;
    }
    record_->frame.enter = site.cfa;
    t_thread.code = site.code;
}

InRoutine::~InRoutine() {
    if (record_)
        record_->frame.enter = nullptr;
}

void stay_in_application(task::ToolRecord &record, Site site, void *frame_pointer) {
    constexpr std::uintptr_t kLargestFrame = 1 << 20;
    const auto above = reinterpret_cast<std::uintptr_t>(site.cfa);
    const auto frame = reinterpret_cast<std::uintptr_t>(frame_pointer);
    const bool is_frame = frame >= above && frame - above < kLargestFrame;
    record.frame.exit = is_frame ? frame_pointer : site.cfa;
    record.frame.exit_flags = kFrameApplication | (is_frame ? kFramePointer : kFrameStackAddress);
}

} // namespace sennit::ompt
