// SPDX-License-Identifier: Apache-2.0
#include "openmp/loops/constructs.h"

#include "openmp/loops/worksharing.h"
#include "openmp/sync/sync.h"
#include "openmp/team/region_events.h"

#include <alloca.h>

namespace sennit::omp {

using namespace ompt;

namespace {

Data *region_of(sched::Worker &worker) {
    return &member_of(worker).team->tool.data;
}

void report(sched::Worker &worker, WorkKind kind, Endpoint endpoint, std::uint64_t size,
            const void *code) {
    g_tool.work(kind, endpoint, region_of(worker), data_of(*worker.task->tool), size, code);
}

void report_piece(sched::Worker &worker, DispatchKind kind, std::uint64_t start,
                  std::uint64_t iterations) {
    DispatchChunk piece{start, iterations};
    Data instance;
    instance.ptr = &piece;
    g_tool.dispatch(region_of(worker), data_of(*worker.task->tool), kind, instance);
}

void report_section(sched::Worker &worker, const void *code) {
    Data instance;
    instance.ptr = const_cast<void *>(code);
    g_tool.dispatch(region_of(worker), data_of(*worker.task->tool), kDispatchSection, instance);
}

WorkKind kind_of(const LoopSchedule &schedule, int threads) {
    switch (schedule.kind) {
    case Sched::dynamic:
        return kWorkLoopDynamic;
    case Sched::guided: // one thread gets all in one piece
        return threads > 1 ? kWorkLoopGuided : kWorkLoopStatic;
    default:
        return kWorkLoopStatic; // auto is static here
    }
}

} // namespace

SENNIT_COLD void tell_work_begin(Site site, WorkKind kind, std::uint64_t size) {
    const InRoutine routine(site);
    task::ToolRecord &record = routine.record();
    end_open_single(member_of(routine.worker()), record, routine.code());
    record.work = kind;
    record.work_size = size;
    report(routine.worker(), kind, kBegin, size, routine.code());
}

SENNIT_COLD void tell_loop_begin(Site site, const LoopSchedule &schedule, std::uint64_t size) {
    tell_work_begin(site, kind_of(schedule, here().slot->group->size), size);
}

SENNIT_COLD void tell_work_end(Site site) {
    sched::Worker &worker = here();
    task::ToolRecord &record = *worker.task->tool;
    if (record.work == 0)
        return;
    const auto kind = static_cast<WorkKind>(record.work);
    record.work = 0;
    report(worker, kind, kEnd, record.work_size, site.code);
}

SENNIT_COLD void tell_piece(Site site, std::uint64_t start, std::uint64_t iterations) {
    sched::Worker &worker = here();
    const int work = worker.task->tool->work;
    if (work == kWorkSections)
        for (std::uint64_t i = 0; i < iterations; ++i)
            report_section(worker, site.code);
    else if (iterations > 0)
        report_piece(worker,
                     work == kWorkDistribute ? kDispatchDistributeChunk : kDispatchLoopChunk, start,
                     iterations);
}

SENNIT_COLD void tell_single(Site site, bool executor) {
    sched::Worker &worker = here();
    task::ToolRecord &record = *worker.task->tool;
    end_open_single(member_of(worker), record, site.code);
    report(worker, executor ? kWorkSingleExecutor : kWorkSingleOther, kBegin, 1, site.code);
    if (executor)
        record.in_single = true;
    else
        report(worker, kWorkSingleOther, kEnd, 1, site.code);
}

SENNIT_COLD void tell_single_end(Site site) {
    sched::Worker &worker = here();
    end_open_single(member_of(worker), *worker.task->tool, site.code);
}

SENNIT_COLD void tell_masked(Site site, Endpoint endpoint) {
    sched::Worker &worker = here();
    g_tool.masked(endpoint, region_of(worker), data_of(*worker.task->tool), site.code);
}

SENNIT_COLD void tell_iteration(const std::int64_t *vector, int loops, DependenceType type) {
    auto *list =
        static_cast<Dependence *>(alloca(static_cast<std::size_t>(loops) * sizeof(Dependence)));
    for (int i = 0; i < loops; ++i) {
        list[i].variable.value = static_cast<std::uint64_t>(vector[i]);
        list[i].type = type;
    }
    g_tool.dependences(data_of(*here().task->tool), list, loops);
}

// The threads of a loop share the team's turn.
static Lock turn_here() {
    return lock_at(kOrdered, &workshares_of(*member_of(here()).team));
}

SENNIT_COLD void ordered_begin_told(Site site) {
    const Acquiring acquiring(site, turn_here());
    ordered_begin(here());
    acquiring.acquired();
}

SENNIT_COLD void ordered_end_told(Site site) {
    const InRoutine routine(site);
    const Lock turn = turn_here();
    ordered_end(routine.worker());
    g_tool.mutex_released(turn.kind, turn.wait_id, routine.code());
}

bool next_section(sched::Worker &worker, Site site, std::uintptr_t count, std::uintptr_t *section) {
    if (!member_of(worker).work.loop)
        return false;
    *section = loop_shared_word(worker).fetch_add(1, std::memory_order_relaxed);
    if (*section >= count) {
        loop_end(worker);
        return false;
    }
    if (on())
        report_section(worker, site.code);
    return true;
}

} // namespace sennit::omp
