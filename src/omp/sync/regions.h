// SPDX-License-Identifier: Apache-2.0
// Synchronisation as front doors call it (OpenMP 5.2, chapter 15): barriers, taskwait, taskgroup,
// and what else a task does in a routine of ours where others may run. What team/ and task/ do, and
// a tool is told.
#pragma once

#include "omp/events/events.h"
#include "omp/events/site.h"
#include "omp/team/team.h"
#include "task/depend.h"
#include "task/task.h"

namespace sennit::omp {

bool barrier_told(ompt::Site site, ompt::SyncKind kind);
void taskwait_told(ompt::Site site);
void taskyield_told(ompt::Site site);
void taskgroup_begin_told(ompt::Site site, Taskgroup &group);
void taskgroup_end_told(ompt::Site site);

// True when the region was cancelled. What `kind` is, is asked where a tool is told.
SENNIT_TOLD bool barrier(ompt::Where auto site, std::convertible_to<ompt::SyncKind> auto kind) {
    if (ompt::on())
        return barrier_told(site, kind);
    return barrier(here());
}

SENNIT_TOLD void taskwait(ompt::Where auto site) {
    if (ompt::on())
        return taskwait_told(site);
    task::wait_children(here());
}
// taskwait with dependences, which `wait` waits for: to a tool, an undeferred task without a body.
// It may stand before the undeferred one that they are of.
using WaitDepends = void (*)(sched::Worker &worker, const task::Depend *depends, int count);
void taskwait_depend_told(ompt::Site site, WaitDepends wait, const task::Depend *depends,
                          int count);
SENNIT_TOLD void taskwait_depend(ompt::Where auto site, WaitDepends wait,
                                 const task::Depend *depends, int count) {
    if (ompt::on())
        return taskwait_depend_told(site, wait, depends, count);
    wait(here(), depends, count);
}

SENNIT_TOLD void taskyield(ompt::Where auto site) {
    task::note_may_suspend();
    if (ompt::on())
        return taskyield_told(site);
    here().yield();
}

SENNIT_TOLD void taskgroup_begin(sched::Worker &worker, ompt::Where auto site, Taskgroup &group) {
    if (ompt::on())
        return taskgroup_begin_told(site, group);
    task::begin_taskgroup(worker, group);
}
SENNIT_TOLD void taskgroup_end(sched::Worker &worker, ompt::Where auto site) {
    if (ompt::on())
        return taskgroup_end_told(site);
    task::end_taskgroup(worker);
}

} // namespace sennit::omp
