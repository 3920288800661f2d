// SPDX-License-Identifier: Apache-2.0
// What wrappers tell the crowd: which ranks a call rings, and what may take long. If ranks do not
// outnumber cores, each function does nothing, at the cost of one look at a word.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/length.h"
#include "mpi/quirks/requests.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Note the length of a message that was started, and that a thread waits for.
inline void note_length(Operation &operation) {
    if (crowded() && operation.type != 0) [[unlikely]]
        operation.bytes =
            message_length(operation.count, handle_from<MPI_Datatype>(operation.type));
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
// An operation on a window, whose request somebody is going to wait for. It may be over only when
// its target has answered, inside of some call of MPI.
inline void rings_target(MPI_Win win, int target, int error) {
    if (crowded() && error == MPI_SUCCESS) [[unlikely]]
        g_crowd.neighbours.ring_target(win, target);
}
// A call of MPI's was made that some ranks may wait for; which ones only MPI knows. Returns
// `error`, the call's.
inline int rings_all(int error) {
    if (crowded()) [[unlikely]]
        g_crowd.neighbours.ring_all();
    return error;
}
// In place of MPI's own: a rank may wait for this one in MPI_Win_wait, or for its exposure in a
// call that spins.
inline int complete_and_ring(MPI_Win win) {
    return rings_all(SENNIT_BARE(Win_complete)(win));
}
inline int post_and_ring(MPI_Group group, int assert, MPI_Win win) {
    return rings_all(SENNIT_BARE(Win_post)(group, assert, win));
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
// A collective was started. Returns what it moves, or -1.
template <class Volume>
SENNIT_COLD std::int64_t started_among(MPI_Comm comm, int root, int error, Volume volume) {
    g_crowd.neighbours.ring_partners(comm, root);
    return error == MPI_SUCCESS ? volume() : -1;
}
template <class Volume>
std::int64_t rings_partners(MPI_Comm comm, int root, int error, Volume volume) {
    if (!crowded()) [[likely]]
        return -1;
    return started_among(comm, root, error, volume);
}
// The same, and somebody is going to wait for its request, without knowing what it is of. `types`:
// its arguments, significant or not. Elements that are not side by side go in smaller pieces, so
// the ranks look more often; what is left of these looks would be in vain.
template <class Volume, class... Types>
SENNIT_COLD void started_to_await(MPI_Comm comm, int root, int error, Volume volume,
                                  Types... types) {
    constexpr std::int64_t looks = 8;
    g_crowd.neighbours.ring_partners(comm, root);
    if (error != MPI_SUCCESS)
        return;
    const std::int64_t bytes = volume();
    const bool is_plain = (is_common(types) && ...);
    g_crowd.neighbours.note_partners(
        comm, root, is_plain || bytes > kLengthUnlimited / looks ? bytes : looks * bytes);
}
template <class Volume, class... Types>
void awaits_partners(MPI_Comm comm, int root, int error, Volume volume, Types... types) {
    if (crowded()) [[unlikely]]
        started_to_await(comm, root, error, volume, types...);
}

} // namespace sennit::mpi
