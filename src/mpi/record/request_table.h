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
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/object.h"
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

void put_in_request_table(const MPI_Request *request, const RequestFacts &facts);
// `facts.call` has returned `error` and made *request. Any thread.
inline void note_request(int error, const MPI_Request *request, const RequestFacts &facts) {
    if (request_call_path() == CallPath::attended && error == MPI_SUCCESS) [[unlikely]]
        put_in_request_table(request, facts);
}
// What the request is about; false when that is not known.
bool find_request(MPI_Request request, RequestFacts &facts);
// From now on, at the latest, if there is a task runtime, which may ask.
void begin_request_table();

// In place of the MPI's: what was posted on the communicator may be over, and it is gone.
int free_comm(MPI_Comm *comm);
int disconnect_comm(MPI_Comm *comm);

} // namespace sennit::mpi
