// SPDX-License-Identifier: Apache-2.0
// Parallel regions and their implicit tasks (OpenMP 5.2, 19.5.2.3 to 19.5.2.6, 19.5.2.13).
#include "omp/team/region_events.h"

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

} // namespace sennit::ompt
