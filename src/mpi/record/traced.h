// SPDX-License-Identifier: Apache-2.0
// Calls on the timeline, when tracing is on; otherwise one load and one branch.
#pragma once

#include "mpi/call/object.h"
#include "sennit.h"

#include <concepts>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

extern constinit bool g_tracing; // constant from MPI_Init on

struct CallFacts {
    const char *name = nullptr;
    int direction = 0; // enum sennit_notice, or 0
    int peer = -1;
    int tag = -1;
    Object object = {};
    int requests = 0; // in `handles`
    const MPI_Request *handles = nullptr;
};

std::uint64_t message_bytes(std::int64_t count, MPI_Datatype type);

class Traced {
  public:
    // facts(): the call, written down only where somebody wants to know. bytes(): what is sent, or
    // the room for what is received.
    template <std::invocable Facts, class Bytes>
    Traced(Facts facts, Bytes bytes) {
        if (__builtin_expect(g_tracing, false))
            begin(facts(), bytes());
    }
    explicit Traced(const CallFacts &facts)
        : Traced([&] { return facts; }, [] { return std::uint64_t{0}; }) {}
    ~Traced() {
        if (__builtin_expect(active_, false))
            end();
    }
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;

    // Where the call shall put its status: the trace wants to know what was received, too.
    MPI_Status *status(MPI_Status *given) {
        if (__builtin_expect(active_, false))
            return watch(given);
        return given;
    }

  private:
    void begin(const CallFacts &facts, std::uint64_t bytes);
    MPI_Status *watch(MPI_Status *given);
    void end();
    bool active_ = false;
    const MPI_Status *status_ = nullptr;
    MPI_Status own_;
};

// What the trace is told of an operation.
sennit_trace_call describe(const CallFacts &facts, std::uint64_t bytes);
// A non-blocking operation was started.
void trace_post(sennit_trace_call call, const MPI_Request *request);
void trace_post(const CallFacts &facts, std::uint64_t bytes, const MPI_Request *request);
template <class Bytes>
void trace_post(const CallFacts &facts, const MPI_Request *request, Bytes bytes) {
    if (__builtin_expect(g_tracing, false))
        trace_post(facts, bytes(), request);
}
// The calling task's completion waits for it.
void trace_bound(const MPI_Request *requests, int count);

// A call that does not wait has found a message: it is looked for from now on as if it had waited.
void trace_found(const CallFacts &facts, const MPI_Status &status);

// MPI_Test and its like. They make no span until they find something complete; then they wait for
// what that was.
class TracedTest {
  public:
    // `name`: null for tests that complete nothing.
    TracedTest(const char *name, int count, const MPI_Request *requests) {
        if (__builtin_expect(g_tracing, false) && name)
            begin(name, count, requests);
    }
    ~TracedTest();
    TracedTest(const TracedTest &) = delete;
    TracedTest &operator=(const TracedTest &) = delete;

    // Those at `indices` are complete, or with null all.
    void found(int count, const int *indices) const {
        if (__builtin_expect(handles_ != nullptr, false))
            tell(count, indices);
    }

  private:
    void begin(const char *name, int count, const MPI_Request *requests);
    void tell(int count, const int *indices) const;
    const char *name_ = nullptr;
    int count_ = 0;
    MPI_Request *handles_ = nullptr; // as they were before
};

// After MPI_Init, and before MPI_Finalize: who we are, and the clocks.
void trace_start();
void trace_finish();

} // namespace sennit::mpi
