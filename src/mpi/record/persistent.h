// SPDX-License-Identifier: Apache-2.0
// Persistent requests. MPI_Start does not say what it starts, so we remember by its request which
// call made it. At MPI_Start we tell the runtime's policies that a task is about to send, and the
// timeline what was posted. And who completes a request has to know whether it is gone then. Any
// thread may call these.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/record/traced.h"

namespace sennit::mpi {

void remember(Notice notice, const CallFacts &facts, std::uint64_t bytes, MPI_Request request);
template <class Bytes>
void remember(Notice notice, const CallFacts &facts, MPI_Request request, Bytes bytes) {
    if (!inside_mpi())
        remember(notice, facts, __builtin_expect(g_tracing, false) ? bytes() : 0, request);
}
// A persistent request of which no more need be known: a collective or partitioned one was made.
inline void remember(int error, const MPI_Request *request) {
    if (error == MPI_SUCCESS && call_path() != CallPath::bare)
        remember(Notice::none, {}, *request, [] { return std::uint64_t{0}; });
}
void forget(MPI_Request request);
bool is_persistent(MPI_Request request);

// Those of them that are known are about to be started; have been.
void starts(int count, const MPI_Request *requests);
void started(int count, const MPI_Request *requests);

} // namespace sennit::mpi
