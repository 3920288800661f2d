// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form: a helper thread makes them while the task is suspended.
//
// Calls of tasks on one communicator, window or file must keep their order, also while the first is
// still under way in a helper. So each takes its turn. A collective that is started, not delegated,
// takes its turn too while there are delegated ones.
#pragma once

#include "mpi/engine/engine.h"

namespace sennit::mpi {

// From construction to destruction it is the calling task's turn on `object`. The constructor
// suspends the task until those that came before are through.
class Turn {
  public:
    explicit Turn(Object object);
    // Without waiting: only where nobody has it.
    struct IfFree {};
    Turn(Object object, IfFree);
    bool taken() const { return object_.kind != Object::Kind::none; }
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Turn *take_or_find_holder();

    Object object_;
    sennit_task *waiter_ = nullptr;
    Turn *next_ = nullptr;        // holders: of another object; waiters: behind this one
    Turn *last_waiter_ = nullptr; // of a holder
    Turn *first_waiter_ = nullptr;
};

// Does any task have its turn or wait for it?
bool turns_taken();

// A call to be made by a helper thread. It is the last that touches the job.
struct Job {
    void (*call)(Job &job);
    Job *next;
};
// Give it to one; false: there is none and no more can be made.
bool hand_out(Job &job);
// Without the task runtime: may more threads than the program's call MPI?
bool may_use_threads();

// A blocking call of a task, or of a callback in its place.
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
        return outside_task([&] { return (*static_cast<CallJob &>(base).what)(); });
    };
    return run_elsewhere(operation, job);
}

} // namespace sennit::mpi
