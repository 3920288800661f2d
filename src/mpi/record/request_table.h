// SPDX-License-Identifier: Apache-2.0
// What requests are about, for reports of hangs: MPI_Wait does not say whose message it waits for.
//
// The calls that make a request note so in a table, at the entry of the request's handle. Later
// calls overwrite it, so not every request that is under way is known. But what is known is true
// as long as the request is the program's: all of the standard's calls that make a request note it
// (generate.py finds them in the header), and so do ours. There is no other way to the same handle.
//
// That costs an exchange of small messages some percent. So a program that calls MPI only outside
// of tasks notes nothing, unless SENNIT_HANG is set. The first call that makes a request while
// there are tasks begins, and from then on all do.
//
// With SENNIT_HANG set requests are *followed*: from MPI_Init on all are noted, and struck out when
// they are over. (MPI may use the handle of one that is over for something of its own, which would
// look like it.) So one may also tell which requests no call waits for. A request then has the
// choice of kWays entries, so that one that is under way is hardly ever overwritten.
//
// State: entries, each with a lock of its own; whether requests are noted, and followed, is told by
// the attention that calls pay (call_path.h). Capacity: kEntries requests; any thread.
#pragma once

#include "base/hash.h"
#include "base/spin.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/quirks/requests.h"
#include "sennit.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

struct RequestFacts {
    const sennit_call *call;
    int peer;
    int tag;
    std::uint64_t group; // communicator
    int send_peer = -1;  // of a call that both sends and receives
    int send_tag = -1;
    int withheld = -1; // parts of a partitioned send that are not ready yet, if it is followed
};

class RequestTable {
  public:
    static constexpr unsigned kEntryBits = 12;
    static constexpr unsigned kEntries = 1u << kEntryBits;
    static constexpr unsigned kWays = 4;

    constexpr RequestTable() = default;
    RequestTable(const RequestTable &) = delete;
    RequestTable &operator=(const RequestTable &) = delete;

    // `facts.call` has returned `error` and made *request. Nobody hangs in what is complete.
    void note(int error, const MPI_Request *request, const RequestFacts &facts) {
        if (first_look_at_requests() == FirstLook::attended && error == MPI_SUCCESS &&
            !is_born_complete(*request)) [[unlikely]]
            put(request, facts);
    }
    void put(const MPI_Request *request, const RequestFacts &facts);
    // What the request is about; false when that is not known.
    bool find(MPI_Request request, RequestFacts &facts);
    // The request is over, and its handle is not the program's any more.
    void strike(MPI_Request request) {
        if (follows()) [[unlikely]]
            remove(request);
    }
    // It was started again; that many of its parts are ready.
    void restarted(MPI_Request request);
    void ready(MPI_Request request, int parts);
    // Every request that is known: visit(request, facts), without a lock.
    template <class Visit>
    void each(Visit visit);
    // The communicator is about to go: what was posted on it may be over.
    void forget(const MPI_Comm *comm);
    // From now on, at the latest, if there is a task runtime, which may ask.
    static void begin();
    static void follow();
    static bool follows() {
        return (g_calls.attention.load(std::memory_order_relaxed) & kFollowed) != 0;
    }

  private:
    struct alignas(64) Entry {
        SpinLock lock;
        std::uintptr_t handle SENNIT_GUARDED_BY(lock) = 0;
        // No call: nothing is known.
        RequestFacts facts SENNIT_GUARDED_BY(lock) = {nullptr, 0, 0, 0, 0, 0, -1};
        int parts SENNIT_GUARDED_BY(lock) = -1; // all of a partitioned one's

        bool is_of(std::uintptr_t other) const SENNIT_REQUIRES(lock) {
            return facts.call && handle == other;
        }
    };
    static bool notes() {
        return (g_calls.attention.load(std::memory_order_relaxed) & kRequestTable) != 0;
    }

    Entry &entry(std::uintptr_t handle, unsigned way) {
        return entries_[(hash_place(handle, kEntryBits) + way) % kEntries];
    }
    // visit(entry) of the one that is the request's, if there is one.
    template <class Visit>
    bool at_entry_of(MPI_Request request, Visit visit);
    unsigned way_for(std::uintptr_t handle);
    void put_followed(std::uintptr_t handle, const RequestFacts &facts);
    void remove(MPI_Request request);

    Entry entries_[kEntries];
};

template <class Visit>
void RequestTable::each(Visit visit) {
    for (Entry &entry : entries_) {
        entry.lock.lock();
        const RequestFacts facts = entry.facts;
        const std::uintptr_t handle = entry.handle;
        entry.lock.unlock();
        if (facts.call)
            visit(handle_from<MPI_Request>(handle), facts);
    }
}

// Some of these requests may be over when a call returns: then their handles are null, and they are
// struck out.
class Completions {
  public:
    Completions(RequestTable &table, int count, const MPI_Request *requests) {
        if (RequestTable::follows() && count > 0 && requests && !inside_mpi()) [[unlikely]]
            begin(table, count, requests);
    }
    ~Completions() {
        if (handles_) [[unlikely]]
            end();
    }
    Completions(const Completions &) = delete;
    Completions &operator=(const Completions &) = delete;

  private:
    static constexpr int kFew = 8;

    void begin(RequestTable &table, int count, const MPI_Request *requests);
    void end();

    MPI_Request *handles_ = nullptr; // as they were before; null: nothing is followed
    RequestTable *table_ = nullptr;
    const MPI_Request *requests_ = nullptr;
    int count_ = 0;
    MPI_Request few_[kFew];
};

} // namespace sennit::mpi
