// SPDX-License-Identifier: Apache-2.0
// Policy global. A rank that waits for a long message tells the sender how urgent it is: the
// priority of the task that receives (its own distance to a send). Long sends that wait for their
// turn leave in that order. docs/results/global.md has what it is worth.
//
// 8 bytes are told of each long message, on a communicator of our own: a duplicate of the world,
// made in MPI_Init on every rank. So the policy has to be the same on all ranks. It changes nothing
// but the order of sends: what comes late, or for a message that has left, is forgotten.
//
// Covered: blocking receives in tasks, from a known rank with a known tag, on MPI_COMM_WORLD.
#pragma once

#include "mpi/engine/engine.h"

namespace sennit::mpi::urgency {

inline constexpr std::int64_t kLongMessage = 8192; // elements

// Between MPI_Init and MPI_Finalize under that policy.
extern std::atomic<bool> g_on;
inline bool on() {
    return __builtin_expect(g_on.load(std::memory_order_acquire), 0);
}

void begin(); // collective
void end();   // collective; nobody sends or receives any more

// The calling task is about to be suspended in `operation`, which is posted; it has `priority`.
void tell(const Operation &operation, int priority);

// Take what other ranks have told; who polls. Calls heard() for each.
void listen(void (*heard)(int peer, int tag, int priority));

// What was told of a message to `peer` before it was sent, once; -1: nothing.
int told(const Operation &operation);
// Remember what was told of a message that has not been sent yet.
void remember(int peer, int tag, int priority);

inline constexpr int kMostPriority = 1023;
// A key of sennit_send_order() with what the receiver says: the least goes first.
inline std::uint64_t key_of(std::uint64_t key, int priority) {
    const int behind = priority < 0 ? kMostPriority + 1 : kMostPriority - priority;
    return static_cast<std::uint64_t>(behind) << 32 | (key & 0xffff'ffff);
}

// Has the receiver said something?
inline bool is_wanted(std::uint64_t key) {
    return key >> 32 <= kMostPriority;
}

} // namespace sennit::mpi::urgency
