// SPDX-License-Identifier: Apache-2.0
// Calls on the timeline, when tracing is on; otherwise one load and one branch.
#pragma once

#include "mpi/record/record.h"

#include <concepts>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

class Traced {
  public:
    // facts(): the call, written down only where somebody wants to know. bytes(): what is sent, or
    // the room for what is received.
    template <std::invocable Facts, class Bytes>
    Traced(Facts facts, Bytes bytes) {
        if (g_record.timeline.on())
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

    // Where the call puts its status: the trace wants to know what was received, too.
    void replace(MPI_Status *&status) {
        if (__builtin_expect(active_, false))
            status = watch(status);
    }

  private:
    void begin(const CallFacts &facts, std::uint64_t bytes);
    MPI_Status *watch(MPI_Status *given);
    void end();
    bool active_ = false;
    const MPI_Status *status_ = nullptr;
    Described described_; // if it is active
    MPI_Status own_;
};

// A call that does not wait has found a message: it is looked for from now on as if it had waited.
void trace_found(const CallFacts &facts, const MPI_Status &status);

// MPI_Test and its like. They make no span until they find something complete; then they wait for
// what that was.
class TracedTest {
  public:
    // `name`: null for tests that complete nothing.
    TracedTest(const char *name, int count, const MPI_Request *requests) {
        if (g_record.timeline.traces() && name)
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

} // namespace sennit::mpi
