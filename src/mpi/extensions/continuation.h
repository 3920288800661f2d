// SPDX-License-Identifier: Apache-2.0
// MPI's continuations (mpix_continue.h) over the engine. An operation is a Batch of tickets. When
// it is complete, its continuation goes to the continuation request that it was registered with. A
// thread that may call it does so.
//
// For the MPI library a continuation request is a persistent receive from ourselves. It is complete
// when we send to it: that is when a test or a wait finds that no continuation is left. So all
// calls that take requests work on it, and on arrays with other requests in it. Calls that test or
// wait come here first.
#pragma once

#include "mpi/call/blocked_mark.h"
#include "mpi/call/callback_state.h"
#include "mpi/engine/engine.h"

#include <sched.h>

namespace sennit::mpi {

struct ContinuationRequest;

extern constinit std::atomic<int> g_continuation_requests;

// Are there continuation requests? What every test and wait looks at.
inline bool continuations() {
    return g_continuation_requests.load(std::memory_order_relaxed) != 0;
}

// Call what is ready to be called, on a thread of the program's or (not `application`) of a
// library's. Returns how many.
int run_continuations(bool application);

// Requests were started: those of continuations that are among them.
void activate_continuations(int count, const MPI_Request *requests);
// A request is about to be freed; it may be a continuation request.
void free_continuation_request(MPI_Request handle);
// Before MPI_Finalize.
void free_continuations();

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
        ContinuationRequest *request;
        int index;
    };
    static constexpr int kFew = 4;
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
