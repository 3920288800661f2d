// SPDX-License-Identifier: Apache-2.0
// What requests are about, for reports of hangs: MPI_Wait does not say whose message it waits for.
//
// The calls that make a request note so in a table, at the place of the request's handle. Later
// calls overwrite it, so not every request that is under way is known. But what is known is true:
// all of the standard's calls that make a request note it (generate.py finds them in the header),
// and so do ours. There is no other way to the same handle.
//
// That costs an exchange of small messages some percent. So a program that calls MPI only outside
// of tasks notes nothing, unless SENNIT_HANG is set. The first call that makes a request while
// there are tasks begins, and from then on all do.
//
// State: places, each with a lock of its own; whether requests are noted is told by the attention
// that calls pay (call_path.h). Capacity: kPlaces requests; any thread.
#pragma once

#include "base/spin.h"
#include "mpi/call/call_path.h"
#include "mpi/call/object.h"
#include "mpi/quirks/born_complete.h"
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
};

class RequestTable {
  public:
    static constexpr unsigned kPlaceBits = 12;
    static constexpr unsigned kPlaces = 1u << kPlaceBits;

    constexpr RequestTable() = default;
    RequestTable(const RequestTable &) = delete;
    RequestTable &operator=(const RequestTable &) = delete;

    // `facts.call` has returned `error` and made *request. Nobody hangs in what is complete.
    void note(int error, const MPI_Request *request, const RequestFacts &facts) {
        if (request_call_path() == CallPath::attended && error == MPI_SUCCESS &&
            !is_born_complete(*request)) [[unlikely]]
            put(request, facts);
    }
    void put(const MPI_Request *request, const RequestFacts &facts);
    // What the request is about; false when that is not known.
    bool find(MPI_Request request, RequestFacts &facts);
    // The communicator is about to go: what was posted on it may be over.
    void forget(const MPI_Comm *comm);
    // From now on, at the latest, if there is a task runtime, which may ask.
    static void begin();

  private:
    struct alignas(64) Place {
        SpinLock lock;
        std::uintptr_t handle = 0;
        RequestFacts facts = {nullptr, 0, 0, 0, 0, 0}; // no call: nothing is known
    };
    static bool notes() {
        return (g_attention.load(std::memory_order_relaxed) & kRequestTable) != 0;
    }

    Place places_[kPlaces];
};

} // namespace sennit::mpi
