// SPDX-License-Identifier: Apache-2.0
// Short waits for another thread of the team: what it does takes an instant, or one iteration. It
// does not know who waits, so nobody is woken. The waiter looks again and again, and lets others
// have the processor in between.
#pragma once

#include "base/spin.h"
#include "omp/team/team.h"
#include "sched/processors.h"
#include "sched/worker.h"
#include "task/accounts.h"

namespace sennit::omp {

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
    const sched::Wait *const outer = worker.begin_wait(wait);
    if (observed::by(observed::kAccounts))
        task::rest_from_work(worker);
    while (!holds()) {
        worker.yield();
        worker.note_idle();
    }
    worker.note_busy();
    worker.end_wait(outer);
    if (observed::by(observed::kAccounts))
        task::go_on_working(worker);
}

} // namespace sennit::omp
