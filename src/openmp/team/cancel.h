// SPDX-License-Identifier: Apache-2.0
// Cancellation (OpenMP 5.2, 11.5 and 11.6), where cancel-var is true.
//
//     a cancelled region              a flag on the team
//     a cancelled loop or sections    a flag on the team, until the barrier or join that ends it
//     a cancelled taskgroup           a flag on the group
//
// Threads look at the flags at cancellation points and barriers. barrier() lets the threads of a
// cancelled region through; the join counts only the threads that arrive at it. Tasks of a
// cancelled construct that have not begun are discarded: they complete without running their body.
#pragma once

#include "openmp/team/team.h"

namespace sennit::omp {

enum class Construct { parallel, loop, sections, taskgroup };

// cancel() activates the cancellation. Both functions return true if the encountering thread or
// task has to leave the construct.
bool cancel(sched::Worker &worker, Construct construct);
bool cancellation_point(sched::Worker &worker, Construct construct);

// The same for front doors. They also tell a tool that the task leaves the construct.
void tell_cancel(ompt::Site site, Construct construct, ompt::CancelFlag how);
SENNIT_TOLD bool cancel(sched::Worker &worker, ompt::Where auto site, Construct construct) {
    const bool leaves = cancel(worker, construct);
    if (ompt::on() && leaves)
        tell_cancel(site, construct, ompt::kCancelActivated);
    return leaves;
}
SENNIT_TOLD bool cancellation_point(sched::Worker &worker, ompt::Where auto site,
                                    Construct construct) {
    const bool leaves = cancellation_point(worker, construct);
    if (ompt::on() && leaves)
        tell_cancel(site, construct, ompt::kCancelDetected);
    return leaves;
}

} // namespace sennit::omp
