// SPDX-License-Identifier: Apache-2.0
// What wrappers tell the crowd: which ranks a call rings, and what may take long. If ranks do not
// outnumber cores, each function does nothing, at the cost of one look at a word.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/length.h"
#include "mpi/quirks/born_complete.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Note the length of an operation that was started, and that a thread waits for.
inline void note_length(Operation &operation) {
    if (!crowded()) [[likely]]
        return;
    if (operation.type != 0)
        operation.bytes =
            message_length(operation.count, handle_from<MPI_Datatype>(operation.type));
    else if (operation.turn.kind == Object::Kind::communicator)
        operation.bytes = operation.count; // a gather or the like: at least, or -1
}
inline void awaits(MPI_Comm comm, int peer, std::int64_t count, MPI_Datatype type, int error) {
    if (!crowded() || error != MPI_SUCCESS) [[likely]]
        return;
    const std::int64_t bytes = message_length(count, type);
    if (g_crowd.lengths.may_be_long(bytes))
        g_crowd.neighbours.note(comm, peer, bytes);
}
// `request`: of a send that MPI does not copy aside first; null: none. If it is over at once, the
// message is on its way. What a rank sends to itself goes another way.
inline void rings(MPI_Comm comm, int peer, std::int64_t count, MPI_Datatype type, int error,
                  const MPI_Request *request = nullptr) {
    if (!crowded()) [[likely]]
        return;
    g_crowd.neighbours.ring(comm, peer);
    if (error != MPI_SUCCESS || !request || !is_born_complete(*request))
        return awaits(comm, peer, count, type, error);
    const int slot = g_crowd.neighbours.slot_of(comm, peer);
    if (slot >= 0 && slot != g_crowd.neighbours.own_slot())
        g_crowd.lengths.note_at_once(message_length(count, type));
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
