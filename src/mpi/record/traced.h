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

// After MPI_Init, and before MPI_Finalize: who we are, and the clocks.
void trace_start();
void trace_finish();

} // namespace sennit::mpi
