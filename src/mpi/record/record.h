// SPDX-License-Identifier: Apache-2.0
// What is kept about requests and communicators.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/crowd/rings.h"
#include "mpi/record/collective_calls.h"
#include "mpi/record/persistent.h"
#include "mpi/record/request_table.h"
#include "mpi/record/timeline.h"

namespace sennit::mpi {

// One for each MPI library in the process.
struct Record {
    Timeline timeline;
    CollectiveCalls collectives;
    RequestTable requests;
    PersistentRequests persistent;

    // A persistent request was made.
    template <class Bytes>
    void remember(Notice notice, const CallFacts &facts, MPI_Request request, Bytes bytes) {
        if (inside_mpi())
            return;
        PersistentFacts known = {.notice = notice, .peer = facts.peer};
        if (timeline.on() && facts.name)
            known.described = timeline.describe(facts, bytes());
        if (crowded()) {
            known.slot =
                g_crowd.neighbours.slot_of(handle_from<MPI_Comm>(facts.object.handle), facts.peer);
            known.bytes = static_cast<std::int64_t>(bytes());
        }
        persistent.put(request, known);
    }
    // One of which no more need be known: a collective or partitioned one.
    void remember(int error, const MPI_Request *request) {
        if (error == MPI_SUCCESS && !inside_mpi())
            persistent.put(*request, {});
    }
    void forget(MPI_Request request) {
        if (!inside_mpi())
            persistent.forget(request);
    }
    // Requests are about to be started; have been. The runtime's policies are told which of the
    // persistent ones send, the timeline what was posted, and their receivers are woken.
    void starts(int count, const MPI_Request *requests);
    void started(int count, const MPI_Request *requests);
    static void ring(const PersistentFacts &facts);

    // The communicator is about to go.
    void forget(const MPI_Comm *comm) {
        requests.forget(comm);
        collectives.forget(comm);
    }
};

#pragma GCC visibility push(hidden)
extern constinit Record g_record;
#pragma GCC visibility pop

// In place of the MPI's: nothing is known of the communicator any more.
int free_comm(MPI_Comm *comm);
int disconnect_comm(MPI_Comm *comm);

} // namespace sennit::mpi
