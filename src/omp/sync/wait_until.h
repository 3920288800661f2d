// SPDX-License-Identifier: Apache-2.0
// Waiting for what another thread of the team does within an instant or an iteration, where nobody
// would know whom to wake: look again, after others had the processor.
#pragma once

#include "base/spin.h"
#include "sched/processors.h"
#include "sched/worker.h"

namespace sennit::omp {

inline constexpr int kTurnSpins = 1000; // before the worker looks around

template <class Predicate>
void wait_until(sched::Worker &worker, Predicate holds) {
    if (!sched::crowded())
        for (int round = 0; round < kTurnSpins; ++round) {
            if (holds())
                return;
            cpu_relax();
        }
    sched::Wait wait{sched::WaitFor::turn, nullptr};
    const sched::Wait *const outer = worker.begin_wait(wait);
    while (!holds()) {
        worker.yield();
        worker.note_idle();
    }
    worker.note_busy();
    worker.end_wait(outer);
}

} // namespace sennit::omp
