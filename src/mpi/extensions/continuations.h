// SPDX-License-Identifier: Apache-2.0
// MPI's continuations (mpix_continue.h) over the engine. An operation is a Batch of tickets. When
// it is complete, its continuation goes to the continuation request that it was registered with. A
// thread that may call it does so.
//
// For the MPI library a continuation request is a persistent receive from ourselves. It is complete
// when we send to it: that is when a test or a wait finds that no continuation is left. So all
// calls that take requests work on it, and on arrays with other requests in it. Calls that test or
// wait come here first (attendance.h).
//
// State                what                                       touched by
//   count_             how many requests there are                any thread reads
//   callable_          continuations that whoever polls may call  any thread reads
//   table_, all_ ...   the requests and their continuations       any thread, with mutex_
//
// The mutex is not held while a continuation is called, or while the operations of one are tested.
//
// Capacity: any number.
#pragma once

#include "base/chains.h"
#include "base/guard.h"
#include "base/list.h"
#include "mpi/call/thread_state.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/callbacks.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <sched.h>

namespace sennit::mpi {

// registered -> (operations complete) ready -> called, or failed
struct Continuation;

class Continuations {
  public:
    struct Request;

    constexpr explicit Continuations(Callbacks &callbacks) : callbacks_(callbacks) {}
    Continuations(const Continuations &) = delete;
    Continuations &operator=(const Continuations &) = delete;

    // Are there continuation requests? What every test and wait looks at.
    bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

    // ---- continuation requests ------------------------------------------------------------------

    // Make one; returns MPI's error.
    int make(bool poll_only, bool any_thread, int max_poll, MPI_Request *handle);
    // Requests were started: those of continuations that are among them.
    void activate(int count, const MPI_Request *requests);
    // A request is about to be freed; it may be a continuation request.
    void free(MPI_Request handle);
    // Before MPI_Finalize.
    void close();

    // ---- continuations --------------------------------------------------------------------------

    // Register it with the request; false: there is no such request.
    bool enter(Continuation &continuation, MPI_Request handle);
    // It is not to be called after all; it is freed.
    void withdraw(Continuation *continuation);
    // Its operations are complete.
    void complete(Continuation *continuation);
    // Call what is ready to be called, on a thread of the program's or (not `application`) of a
    // library's. Returns how many.
    int run(bool application);
    // The data of those that failed, of *count at most; false: there is no such request.
    bool take_failed(MPI_Request handle, int *count, void **data);

  private:
    friend class Attendance;

    Request *find(MPI_Request handle) SENNIT_REQUIRES(mutex_);
    void announce(Request &request) SENNIT_REQUIRES(mutex_);
    void complete_request(Request &request) SENNIT_REQUIRES(mutex_);
    void destroy_if_unused(Request &request) SENNIT_REQUIRES(mutex_);
    void leave(Request &request) SENNIT_REQUIRES(mutex_);
    bool may_call(const Request &request, bool application) SENNIT_REQUIRES(mutex_);
    // Call the first that is ready: `here`, or as Callbacks thinks best. The mutex is not held
    // meanwhile.
    void call_first(Request &request, bool here) SENNIT_REQUIRES(mutex_);

    static void call(void *continuation);

    Callbacks &callbacks_;
    std::atomic<int> count_{0};
    std::atomic<int> callable_{0};
    Mutex mutex_ SENNIT_BEFORE(g_calls.lock);            // attend_to()
    Chains<Request, 8> table_ SENNIT_GUARDED_BY(mutex_); // by handle
    Request *all_ SENNIT_GUARDED_BY(mutex_) = nullptr;
    std::uint64_t pass_ SENNIT_GUARDED_BY(mutex_) = 0;
    int made_ SENNIT_GUARDED_BY(mutex_) = 0;
    bool has_self_ SENNIT_GUARDED_BY(mutex_) = false;
    MPI_Comm self_ SENNIT_GUARDED_BY(mutex_){}; // of the receives that the requests are
};

struct Continuation {
    Continuations &all;
    Continuations::Request *owner;
    int (*callback)(int error, void *data);
    void *data;
    MPI_Request *handles; // of the user, to be written when the operations are complete, or null
    bool invoke_failed;
    bool free_requests;
    int error;
    Continuation *next;
};

struct Continuations::Request {
    MPI_Request handle = MPI_REQUEST_NULL; // a persistent receive
    int tag = 0;
    bool poll_only = false;
    bool any_thread = false;
    bool active = false;
    bool freed = false; // goes with its last continuation
    int max_poll = 0;
    int registered = 0; // neither called nor failed yet
    int waiters = 0;
    int attended = 0;
    int error = MPI_SUCCESS; // of the last failed continuation
    List<Continuation> ready;
    int ready_count = 0;
    int announced = 0; // of these, as pending operations
    List<Continuation> failed;
    std::uint64_t pass = 0; // of run()
    int called_in_pass = 0;
    Request *next = nullptr;
    Request *next_in_table = nullptr;

    std::uint64_t key() const { return handle_bits(handle); }
    Request *&chain() { return next_in_table; }
};

// What interfaces beyond the standard keep.

// One for each MPI library in the process.
struct Extensions {
    Callbacks callbacks;
    Continuations continuations{callbacks};
    std::atomic<bool> automatic{true}; // TAMPI_PROPERTY_AUTO_INIT
};

#pragma GCC visibility push(hidden)
extern constinit Extensions g_extensions;
#pragma GCC visibility pop

// Tests and waits while there are continuation requests, which may be among theirs.

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
                   MPI_Status *statuses, Test test) {
    InCallback::note_call();
    Attendance attendance(Attendance::Mode::wait, count, requests);
    int error = MPI_SUCCESS;
    if (operation.path == Path::suspends) {
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
