// SPDX-License-Identifier: Apache-2.0
// Synchronisation as front doors call it (OpenMP 5.2, chapter 15): barriers, taskwait, taskgroup,
// and what else a task does in a routine of ours where others may run. What team/ and task/ do, and
// a tool is told.
#pragma once

#include "base/spin.h"
#include "openmp/events/events.h"
#include "openmp/sync/sync.h"
#include "openmp/team/team.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"
#include "tasks/task/accounts.h"
#include "tasks/task/depend.h"
#include "tasks/task/task.h"

#include <cstddef>

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

// Directives that are one call of the runtime's: flush, error, and reductions over the threads of a
// construct (OpenMP 5.2, 15.8.5, 8.5, 5.5.8).

void tell_flush(ompt::Site site);
SENNIT_TOLD void flush(ompt::Where auto site) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (ompt::on())
        tell_flush(site);
}

// The front door says the text to people, in its compiler's words.
void tell_error_slow(ompt::Site site, bool fatal, const char *message, std::size_t length);
SENNIT_TOLD void tell_error(ompt::Where auto site, bool fatal, const char *message,
                            std::size_t length) {
    if (ompt::on())
        tell_error_slow(site, fatal, message, length);
}

// How the threads of a team combine what each of them has: a team of one has nobody to wait for,
// else under a lock or with the compiler's atomic operations, if it `has_atomics`. With a tool
// never those: the compiler's code does not say when it has done with them.
enum class Combine { alone, locked, atomic };
Combine begin_reduction(ompt::Site site, TaskMutex &mutex, bool has_atomics);
void end_reduction(ompt::Site site, TaskMutex &mutex);

// Short waits for another thread of the team: what it does takes an instant, or one iteration. It
// does not know who waits, so nobody is woken. The waiter looks again and again, and lets others
// have the processor in between.

// Spin for a moment; not where the processor, or this worker, has others to run that may be waited
// for. True: it holds.
template <class Predicate>
bool spin_until(sched::Worker &worker, Predicate holds) {
    constexpr int most = 1000; // before the worker looks around
    for (int left = sched::crowded() || member_of(worker).team->threads ? 0 : most; left > 0;
         --left) {
        if (holds())
            return true;
        cpu_relax();
    }
    return false;
}

template <class Predicate>
void wait_until(sched::Worker &worker, Predicate holds) {
    if (spin_until(worker, holds))
        return;
    sched::Wait wait{sched::WaitFor::turn, nullptr};
    const sched::Wait *const outer = sched::begin_wait(worker, wait);
    if (observed::by(observed::kAccounts))
        task::rest_from_work(worker);
    while (!holds()) {
        worker.yield();
        worker.note_idle();
    }
    worker.note_busy();
    sched::end_wait(worker, outer);
    if (observed::by(observed::kAccounts))
        task::go_on_working(worker);
}

} // namespace sennit::omp
