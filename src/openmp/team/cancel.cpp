// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/cancel.h"

#include "openmp/env/icv.h"
#include "openmp/team/region_events.h"

namespace sennit::omp {

bool cancel(sched::Worker &worker, Construct construct) {
    if (!global_icvs().cancellation)
        return false;
    Team &team = *member_of(worker).team;
    switch (construct) {
    case Construct::parallel:
        // seq_cst: a thread that parks at a barrier or for a turn afterwards sees it.
        team.cancelled.store(true, std::memory_order_seq_cst);
        for (int i = 0; i < team.size; ++i)
            team.member(i).cell.signal_if_armed();
        break;
    case Construct::loop:
    case Construct::sections:
        team.share_cancelled.store(true, std::memory_order_relaxed);
        break;
    case Construct::taskgroup:
        if (Taskgroup *group = task::cancellable_taskgroup(*worker.task))
            group->cancelled.store(true, std::memory_order_relaxed);
        break;
    }
    return true;
}

bool cancellation_point(sched::Worker &worker, Construct construct) {
    if (!global_icvs().cancellation)
        return false;
    const Team &team = *member_of(worker).team;
    const bool worksharing = construct == Construct::loop || construct == Construct::sections;
    if (worksharing && team.share_cancelled.load(std::memory_order_relaxed))
        return true;
    // With a region all that is in it is cancelled.
    return construct == Construct::taskgroup ? task::is_cancelled(*worker.task)
                                             : team.cancelled.load(std::memory_order_relaxed);
}

SENNIT_COLD void tell_cancel(ompt::Site site, Construct construct, ompt::CancelFlag how) {
    static constexpr int kFlags[] = {ompt::kCancelParallel, ompt::kCancelLoop,
                                     ompt::kCancelSections, ompt::kCancelTaskgroup};
    const ompt::InRoutine routine(site);
    ompt::g_tool.cancel(ompt::data_of(routine.record()), kFlags[static_cast<int>(construct)] | how,
                        routine.code());
}

} // namespace sennit::omp
