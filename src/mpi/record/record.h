// SPDX-License-Identifier: Apache-2.0
// What is kept about requests and communicators.
#pragma once

#include "base/chains.h"
#include "base/guard.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/rings.h"
#include "mpi/record/communicators.h"
#include "mpi/record/request_table.h"
#include "mpi/record/timeline.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Persistent requests. MPI_Start does not say what it starts, so we remember by its request which
// call made it. And who completes a request has to know whether it is gone then.
//
// State: a hash table of lists, under a mutex. Any thread. Capacity: any number; without memory a
// request starts unseen.

// What its start is.
struct PersistentFacts {
    Notice notice = Notice::none;
    int peer = -1;
    // Empty where nobody wanted to know. Described when it was made: its communicator may be freed
    // before it starts.
    Described described = {};
    // Where ranks outnumber cores: the other rank's slot, or -1, and how long the message is.
    int slot = -1;
    std::int64_t bytes = 0;
};

class PersistentRequests {
  public:
    constexpr PersistentRequests() = default;
    PersistentRequests(const PersistentRequests &) = delete;
    PersistentRequests &operator=(const PersistentRequests &) = delete;

    void put(MPI_Request request, const PersistentFacts &facts);
    void forget(MPI_Request request);
    bool has(MPI_Request request) {
        return known_.load(std::memory_order_relaxed) != 0 && is_known(request);
    }
    // What is known of the request; false: nothing.
    bool find(MPI_Request request, PersistentFacts &facts);

  private:
    struct Known;

    bool is_known(MPI_Request request);

    Mutex mutex_;
    Chains<Known, 10> table_ SENNIT_GUARDED_BY(mutex_);
    std::atomic<int> known_{0};
};

// The collective calls that the process has made on each communicator, for reports of hangs.
//
// All ranks of a communicator must make its collective calls in the same order (MPI 4.0, section
// 6.14). So the n-th call of one rank belongs to the n-th of every other. A rank with a lower count
// has not come to a call. A rank whose n-th call is another one has mixed them up. The calls in
// which the ranks are now do not tell either: the root of a broadcast goes on before the others.
//
// Every call that the program makes is counted, those that block and those that do not. What MPI
// libraries and this one call themselves is not counted.
//
// State: a hash table of communicators without a lock. An entry belongs to a handle for good:
// handles come back, and their counts begin anew. The calls on a communicator are one after the
// other (the standard demands it), so its entry has one writer at a time. Any thread may visit; it
// may get a call that has begun meanwhile.
//
// Capacity: kEntries communicators, of each the last SENNIT_COLLECTIVES_KEPT calls. Those of one
// that finds no free entry are not counted.

class CollectiveCalls {
  public:
    static constexpr unsigned kEntryBits = 8;
    static constexpr unsigned kEntries = 1u << kEntryBits;

    constexpr CollectiveCalls() = default;
    CollectiveCalls(const CollectiveCalls &) = delete;
    CollectiveCalls &operator=(const CollectiveCalls &) = delete;

    // Begin the program's next collective call on the communicator; returns its number, from 1, or
    // -1 when nobody counts. `root`: -1 for calls without one.
    int count(Object comm, const char *name, int root);

    // The same where the call may be one of the MPI library's own.
    int count_unless_inside(Object comm, const char *name, int root) {
        return inside_mpi() ? -1 : count(comm, name, root);
    }

    // The communicator is about to go: its handle may come back, for another one.
    void forget(const MPI_Comm *comm);

    void visit(void (*visit)(void *arg, const sennit_collectives *made), void *arg) const;

  private:
    struct Entry {
        std::atomic<std::uintptr_t> handle{0}; // 0: free
        std::atomic<int> calls{0};
        std::atomic<const char *> names[SENNIT_COLLECTIVES_KEPT] = {};
        std::atomic<int> roots[SENNIT_COLLECTIVES_KEPT] = {};
    };
    static constexpr unsigned kProbes = 16;

    Entry *find(std::uintptr_t handle, bool make);

    Entry entries_[kEntries];
};

// One for each MPI library in the process.
struct Record {
    Timeline timeline;
    CollectiveCalls collectives;
    Communicators communicators;
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
        if (comm)
            communicators.forget(*comm);
    }
};

#pragma GCC visibility push(hidden)
extern constinit Record g_record;
#pragma GCC visibility pop

// In place of the MPI's: nothing is known of the communicator any more.
int free_comm(MPI_Comm *comm);
int disconnect_comm(MPI_Comm *comm);

} // namespace sennit::mpi
