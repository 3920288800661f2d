// SPDX-License-Identifier: Apache-2.0
// Worksharing, masked and taskloop constructs and the pieces of their work (OpenMP 5.2, 19.5.2.5,
// 19.5.2.6, 19.5.2.14).
#include "omp/loops/worksharing.h"
#include "omp/ompt/events.h"
#include "omp/team/team.h"

namespace sennit::ompt {
namespace {

task::ToolRecord &record_here() {
    return *omp::here().task->tool;
}

Data *region_here() {
    return &omp::member_of(omp::here()).team->tool.data;
}

void report(WorkKind kind, Endpoint endpoint, std::uint64_t size, const void *code) {
    g_tool.work(kind, endpoint, region_here(), data_of(record_here()), size, code);
}

void end_open_single(task::ToolRecord &record, const void *code) {
    if (!record.in_single)
        return;
    record.in_single = false;
    report(kWorkSingleExecutor, kEnd, 1, code);
}

} // namespace

void work_begin(const void *code, WorkKind kind, std::uint64_t size) {
    task::ToolRecord &record = record_here();
    end_open_single(record, code);
    record.work = kind;
    record.work_size = size;
    report(kind, kBegin, size, code);
}

void work_end(const void *code) {
    task::ToolRecord &record = record_here();
    if (record.work == 0)
        return;
    const auto kind = static_cast<WorkKind>(record.work);
    record.work = 0;
    report(kind, kEnd, record.work_size, code);
}

void chunk(DispatchKind kind, std::uint64_t start, std::uint64_t iterations) {
    Chunk piece{start, iterations};
    Data instance;
    instance.ptr = &piece;
    g_tool.dispatch(region_here(), data_of(record_here()), kind, instance);
}

void section(const void *code) {
    Data instance;
    instance.ptr = const_cast<void *>(code);
    g_tool.dispatch(region_here(), data_of(record_here()), kDispatchSection, instance);
}

void single(const void *code, bool executor) {
    task::ToolRecord &record = record_here();
    end_open_single(record, code);
    report(executor ? kWorkSingleExecutor : kWorkSingleOther, kBegin, 1, code);
    if (executor)
        record.in_single = true;
    else
        report(kWorkSingleOther, kEnd, 1, code);
}

void single_end(const void *code) {
    end_open_single(record_here(), code);
}

void masked(const void *code, Endpoint endpoint) {
    g_tool.masked(endpoint, region_here(), data_of(record_here()), code);
}

void taskloop_chunk(Task &task) {
    if (task.tool->iterations > 0)
        chunk(kDispatchTaskloopChunk, task.tool->first_iteration, task.tool->iterations);
}

WorkKind kind_of(const omp::LoopSchedule &schedule) {
    switch (schedule.kind) {
    case Sched::dynamic:
        return kWorkLoopDynamic;
    case Sched::guided: // one thread gets all in one piece
        return omp::here().slot->group->size > 1 ? kWorkLoopGuided : kWorkLoopStatic;
    default:
        return kWorkLoopStatic; // auto is static here
    }
}

} // namespace sennit::ompt
