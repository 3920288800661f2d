// SPDX-License-Identifier: Apache-2.0
// What wrappers tell the crowd: which ranks a call rings, and what may take long. If ranks do not
// outnumber cores, each function does nothing, at the cost of one look at a word.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/length.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Note the length of an operation that was started, and that a thread waits for.
inline void note_length(Operation &operation) {
    if (crowded() && operation.type != 0)
        operation.bytes =
            message_length(operation.count, handle_from<MPI_Datatype>(operation.type));
}
inline void awaits(MPI_Comm comm, int peer, std::int64_t count, MPI_Datatype type, int error) {
    if (!crowded() || error != MPI_SUCCESS) [[likely]]
        return;
    if (const std::int64_t bytes = message_length(count, type); bytes >= kMaybeLong)
        g_crowd.neighbours.note(comm, peer, bytes);
}
inline void rings(MPI_Comm comm, int peer, std::int64_t count, MPI_Datatype type, int error) {
    if (!crowded()) [[likely]]
        return;
    g_crowd.neighbours.ring(comm, peer);
    awaits(comm, peer, count, type, error);
}
// Is a collective on the communicator made in the form that is for ranks that outnumber cores? The
// answer is the same on all its ranks.
inline bool crowds(MPI_Comm comm) {
    return crowded() && g_crowd.neighbours.are_of_job(comm);
}
inline void rings_partners(MPI_Comm comm, int root) {
    if (crowded()) [[unlikely]]
        g_crowd.neighbours.ring_partners(comm, root);
}

} // namespace sennit::mpi
