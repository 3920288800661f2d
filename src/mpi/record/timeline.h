// SPDX-License-Identifier: Apache-2.0
// What the trace is told of MPI (SENNIT_TRACE): who is in a communicator, how the clocks of hosts
// differ, which operations were posted and who waits for them. Spans of calls: traced.h.
//
// State         what                                         touched by
//   on_         constant from MPI_Init to MPI_Finalize       any thread reads
//   key_, latest_  names of communicators: an attribute,     any thread, under mutex_
//               which goes with its communicator as a handle does not
//   clock_comm_, has_clocks_                                 MPI_Init, MPI_Finalize
//
// Capacity: any number of communicators.
#pragma once

#include "mpi/call/object.h"
#include "sennit.h"

#include <cstdint>
#include <mpi.h>
#include <pthread.h>

namespace sennit::mpi {

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

class Timeline {
  public:
    constexpr Timeline() = default;
    Timeline(const Timeline &) = delete;
    Timeline &operator=(const Timeline &) = delete;

    // Is tracing on? One load and one branch where it is not.
    bool on() const { return __builtin_expect(on_, false); }

    // After MPI_Init, and before MPI_Finalize: who we are, and the clocks.
    void start();
    void finish();

    // What the trace is told of an operation.
    sennit_trace_call describe(const CallFacts &facts, std::uint64_t bytes);
    // A non-blocking operation was started.
    void post(sennit_trace_call call, const MPI_Request *request) const;
    template <class Bytes>
    void post(const CallFacts &facts, const MPI_Request *request, Bytes bytes) {
        if (on())
            post(facts, bytes(), request);
    }
    // The calling task's completion waits for it.
    void bound(const MPI_Request *requests, int count) const;
    // They are called back for: what that completes is the task whose event `event` is, or, where
    // that is 0, the calling one if it has events.
    void completes(const MPI_Request *requests, int count, std::uint64_t event) const;

    // The call of the calling task begins; it waits for an operation; it ends, with what was
    // received.
    void begin(const sennit_trace_call &call) const;
    void waits_for(MPI_Request request) const;
    void end(int source, int tag, std::uint64_t bytes) const;

  private:
    void post(const CallFacts &facts, std::uint64_t bytes, const MPI_Request *request);
    std::uint64_t group_id(Object object);

    bool on_ = false;
    bool has_clocks_ = false;
    bool has_key_ = false;
    int key_ = 0;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::uintptr_t latest_ = 0;
    MPI_Comm clock_comm_{}; // valid while has_clocks_
};

} // namespace sennit::mpi
