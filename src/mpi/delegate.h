// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form: a helper thread makes them while the task is suspended.
//
// Calls of tasks on one communicator, window or file must keep their order, also when the first is
// still under way in a helper: each takes its turn. A collective that is started (not delegated)
// takes its turn too while there are others.
#pragma once

#include "mpi/engine.h"

namespace sennit::mpi {

// From construction to destruction it is the calling task's turn on `object`. The constructor
// suspends the task until those that came before are through.
class Turn {
  public:
    explicit Turn(Object object);
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Object object_;
    sennit_task *waiter_ = nullptr;
    Turn *next_ = nullptr;        // holders: of another object; waiters: behind this one
    Turn *last_waiter_ = nullptr; // of a holder
    Turn *first_waiter_ = nullptr;
};

// Does any task have its turn or wait for it?
bool turns_taken();

// A call to be made elsewhere.
struct Job {
    int (*call)(Job &job);
    sennit_task *task;
    int error;
    Job *next;
};

// Suspend the calling task until a helper thread has made the call; returns its code.
int run_elsewhere(const Operation &operation, Job &job);

template <class Call>
int delegate(const Operation &operation, Call call) {
    struct CallJob : Job {
        Call *what;
    } job;
    job.what = &call;
    job.call = [](Job &base) {
        return outside_task([&] { return (*static_cast<CallJob &>(base).what)(); });
    };
    return run_elsewhere(operation, job);
}

} // namespace sennit::mpi
