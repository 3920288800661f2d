// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form. A helper thread makes such a call while the task is suspended.
#pragma once

#include "mpi/crowd/spins.h"
#include "mpi/engine/engine.h"

#include <atomic>

namespace sennit::mpi {

// A blocking call of a task, or of a callback that runs in a task's place.
struct BlockingJob : Job {
    int (*make)(BlockingJob &job);
    int error;
    sennit_task *task; // null: a thread polls
    std::atomic<bool> over;
};

// Suspend the calling task until a helper thread has made the call; returns its code.
int run_elsewhere(const Operation &operation, BlockingJob &job);

template <class Call>
int delegate(const Operation &operation, Call call) {
    struct CallJob : BlockingJob {
        Call *what;
    } job;
    job.what = &call;
    job.make = [](BlockingJob &base) {
        if (crowded())
            t_spins.begins();
        return outside_task([&] { return (*static_cast<CallJob &>(base).what)(); });
    };
    return run_elsewhere(operation, job);
}

} // namespace sennit::mpi
