// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form. A helper thread makes such a call while the task is suspended.
#pragma once

#include "mpi/call/errors.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/assembled.h"
#include "mpi/crowd/spins.h"
#include "mpi/engine/engine.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

// A blocking call of a task, or of a callback that runs in a task's place. What it returns is for
// all jobs that have joined it; MPI calls the error handler once.
struct BlockingJob : Job {
    int (*make)(BlockingJob &job);
    int error;
    sennit_task *task; // null: a thread polls
    std::atomic<bool> over;
};

// Suspend the calling task until a helper thread has made the call; returns its code. By another
// path than Path::delegates, see without_twin().
int run_elsewhere(const Operation &operation, BlockingJob &job);

template <class Call>
int delegate(const Operation &operation, Call call, const SameCall &same = {}) {
    struct CallJob : BlockingJob {
        Call *what;
    } job;
    job.what = &call;
    job.same = same;
    job.make = [](BlockingJob &base) {
        if (crowded())
            t_spins.begins();
        return outside_task([&] { return (*static_cast<CallJob &>(base).what)(); });
    };
    return run_elsewhere(operation, job);
}

// Make a collective call without messages (crowd/assembled.h). As in every call, the task is
// suspended and other threads poll.

int assemble(Assembled &assembled, const Operation &operation, const Reduction &reduction);
int assemble(Assembled &assembled, const Operation &operation, const Broadcast &broadcast);

// A reduction for this rank that has nowhere to put the result, as MPI is about to say. The others
// do not know, and bring their parts all the same, as they would send them. So it takes part in
// vain.
inline bool lacks_result(const Reduction &reduction) {
    return reduction.in && reduction.in != MPI_IN_PLACE &&
           (!reduction.out || reduction.in == reduction.out);
}
void take_in_vain(Assembled &assembled, const Operation &operation, const Reduction &reduction);

// The ranks of a communicator wait for each other before they make `operation`. `number` was taken
// for that.
void gather(Assembled &assembled, const Operation &operation, std::uint32_t number);

// A call that makes a communicator from `parent`, which all ranks of `parent` make. It begins when
// the object is made. When MPI has made the communicator, the ranks agree how calls on it are made
// (crowd/children.h).
class Adoption {
  public:
    // `gathers`: the ranks wait for each other before MPI makes it (engine/delegate.h).
    Adoption(const char *name, MPI_Comm parent, bool gathers);
    Adoption(const Adoption &) = delete;
    Adoption &operator=(const Adoption &) = delete;

    // MPI's call, for delegate(): it gathers by the first of the adoption's numbers.
    Operation gathering(Operation operation) {
        operation.gathering = gathering_;
        gathering_ = 0;
        return operation;
    }
    // MPI's call: no error handler is called before the ranks have agreed, for it may not return.
    template <class Call>
    int hold(Call call) {
        return crowded_ ? error_.hold(call) : call();
    }
    // MPI_COMM_NULL: this rank is in no new communicator.
    void end(MPI_Comm made) {
        agree_on(made);
        error_.tell();
    }

  private:
    Operation operation(MPI_Comm on) const;
    void agree_on(MPI_Comm made);
    void make(const Reduction &call, std::uint32_t number);
    void agree(MPI_Comm made);
    void agree_by_messages(MPI_Comm made);

    const char *name_;
    MPI_Comm parent_;
    Path path_ = Path::bare;         // of the waits in which the ranks agree
    bool crowded_ = false;           // the ranks agree, if they can
    Assembled *assembled_ = nullptr; // of the parent
    bool few_ = false;               // the parent's ranks: the result has room for all offers
    std::uint32_t gathering_ = 0;    // 0: it is over, or MPI's call does so by itself
    std::uint32_t number_ = 0;
    HeldError error_;
};

} // namespace sennit::mpi
