// SPDX-License-Identifier: Apache-2.0
// Error handlers are called once, for the object that the failing call is about, by the thread that
// made the call.
//
// An MPI library tells of a failed request when the request is tested, which happens here in a
// polling service. Open MPI calls the handler of the request's communicator then. MPICH calls the
// handler of MPI_COMM_WORLD, whatever the request is about, and by default that ends the program.
// So we are asked (errors.cpp) before MPICH calls a handler: while this thread tests, none is
// called, and whoever waits for the request does what is to be done.
#pragma once

#include "base/compiler.h"
#include "mpi/call/operation.h"

#include <utility>

namespace sennit::mpi {

// From construction to destruction errors of this thread are kept from handlers, where the MPI lets
// us.
class QuietTests {
  public:
    QuietTests() : outer_(t_quiet) { t_quiet = true, t_kept = false; }
    ~QuietTests() { t_quiet = outer_; }
    QuietTests(const QuietTests &) = delete;
    QuietTests &operator=(const QuietTests &) = delete;

    // Was a handler not called since the last time?
    static bool kept_back() {
        const bool kept = t_kept;
        t_kept = false;
        return kept;
    }

    static SENNIT_TLS bool t_quiet;
    static SENNIT_TLS bool t_kept;

  private:
    bool outer_;
};

// An error that MPI has found while this library has something left to do for the call. Open MPI
// bears handlers that do not return, and then it would never be done. So such a handler is called
// when all is done. Not one that ends the program: what is left to do may need ranks that wait for
// this one. Nor if Open MPI names none, as version 5 does for MPI_COMM_NULL: nothing is left to do
// then.
class HeldError {
  public:
    HeldError() = default;
    HeldError(const HeldError &) = delete;
    HeldError &operator=(const HeldError &) = delete;

    // call(), whose error is held.
    template <class Call>
    int hold(Call call) {
        HeldError *const outer = std::exchange(t_holds, this);
        const int error = call();
        t_holds = outer;
        return error;
    }
    // All is done. The thread may be another one.
    void tell();
    // call(), which calls a handler now. If that does not return, nothing is left that holds errors
    // on a stack that is gone.
    template <class Call>
    static int let(Call call) {
        HeldError *const outer = std::exchange(t_holds, nullptr);
        const int error = call();
        t_holds = outer;
        return error;
    }
    // Of Open MPI's function that calls handlers: its arguments. False: it is to call this one now.
    static bool holds(void *handler, void *object, int kind, int error, const char *function);

  private:
    static SENNIT_TLS HeldError *t_holds;

    void *handler_ = nullptr; // null: there is no error
    void *object_ = nullptr;
    int kind_ = 0;
    int error_ = 0;
    const char *function_ = nullptr;
};

// Call the error handler of `object`, or of MPI_COMM_WORLD for none.
void raise(Object object, int error);

} // namespace sennit::mpi
