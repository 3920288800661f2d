// SPDX-License-Identifier: Apache-2.0
// Tests and waits while there are continuation requests, which may be among theirs.
#pragma once

#include "mpi/call/blocked_mark.h"
#include "mpi/call/callback_state.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/extensions.h"

#include <sched.h>

namespace sennit::mpi {

// The continuation requests among the requests of a test or a wait, while that lasts.
class Attendance {
  public:
    enum class Mode { test, wait };
    Attendance(Mode mode, int count, const MPI_Request *requests);
    ~Attendance();
    Attendance(const Attendance &) = delete;
    Attendance &operator=(const Attendance &) = delete;

    // Test tickets, call continuations, complete continuation requests that have none left.
    void work();
    // The code of a call that has completed all of the requests, MPI_SUCCESS so far. `statuses` may
    // be ignored.
    int conclude(MPI_Status *statuses);

  private:
    struct Entry {
        Continuations::Request *request;
        int index;
    };
    static constexpr int kFew = 4;
    Continuations &all_ = g_extensions.continuations;
    Mode mode_;
    int requests_;
    int count_ = 0;
    Entry few_[kFew];
    Entry *entries_ = few_;
};

// What the calling task or thread does instead of the bare wait while there are continuation
// requests: test(&flag) until it is over. `all`: then all requests are complete.
template <class Test>
int wait_attending(const Operation &operation, bool all, int count, const MPI_Request *requests,
                   MPI_Status *statuses, bool suspends, Test test) {
    InCallback::note_call();
    Attendance attendance(Attendance::Mode::wait, count, requests);
    int error = MPI_SUCCESS;
    if (suspends) {
        error = poll_and_wait(operation, test);
    } else {
        const Blocking mark(operation);
        int flag = 0;
        for (;;) {
            InCallback::while_blocked([&] { attendance.work(); });
            error = outside_task([&] { return test(&flag); });
            if (flag || error != MPI_SUCCESS)
                break;
            sched_yield();
        }
    }
    return error == MPI_SUCCESS && all ? attendance.conclude(statuses) : error;
}

} // namespace sennit::mpi
