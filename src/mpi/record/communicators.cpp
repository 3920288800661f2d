// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/communicators.h"

#include "mpi/call/bare.h"
#include "mpi/call/errors.h"
#include "mpi/call/members.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace sennit::mpi {

struct Communicators::Known {
    std::uint64_t handle;
    Known *next;
    const char *call;
    int number;            // among those of the same ranks
    std::uint64_t members; // as Members::fingerprint
    int size;              // of both sides
    int peers;
    bool inter;
    int world_ranks[1]; // of the peers

    std::uint64_t key() const { return handle; }
    Known *&chain() { return next; }
};

// How many communicators have had them.
struct Communicators::Ranks {
    std::uint64_t members;
    Ranks *next;
    int communicators;

    std::uint64_t key() const { return members; }
    Ranks *&chain() { return next; }
};

// 0: there is no memory.
int Communicators::next_number(std::uint64_t members) {
    Ranks *ranks = ranks_.find(members);
    if (!ranks) {
        void *const memory = std::malloc(sizeof(Ranks));
        if (!memory)
            return 0;
        ranks = new (memory) Ranks{members, nullptr, 0};
        ranks_.add(*ranks);
    }
    return ++ranks->communicators;
}

void Communicators::keep(const char *call, MPI_Comm like, MPI_Comm made) {
    const Inside inside;
    const QuietTests quiet;
    const Members peers(like);
    const Members own(like, Members::Side::own);
    std::uint64_t members = own.fingerprint();
    if (peers.of_inter()) { // the same from either side
        const std::uint64_t theirs = peers.fingerprint();
        members = members == 0 || theirs == 0
                      ? 0
                      : hash_after(std::min(members, theirs), std::max(members, theirs));
    }
    if (members == 0 || std::max(own.size(), peers.size()) > kMostRanks)
        return;
    const auto count = static_cast<std::size_t>(peers.size());
    void *const memory = std::malloc(sizeof(Known) + sizeof(int) * count);
    if (!memory)
        return;
    auto *const known = new (memory) Known{};
    known->handle = handle_bits(made);
    known->call = call;
    known->members = members;
    known->inter = peers.of_inter();
    known->peers = peers.size();
    known->size = known->inter ? own.size() + peers.size() : own.size();
    for (int i = 0; i < peers.size(); ++i)
        known->world_ranks[i] = peers.in_world(i);
    const Guard guard(mutex_);
    std::free(table_.take(known->handle));
    known->number = next_number(members);
    if (known->number == 0) {
        std::free(known);
        return;
    }
    table_.add(*known);
}

void Communicators::forget(MPI_Comm comm) {
    const Guard guard(mutex_);
    std::free(table_.take(handle_bits(comm)));
}

void Communicators::describe(const sennit_wait &wait, sennit_wait_text &text) {
    const Guard guard(mutex_);
    const Known *const known = table_.find(wait.group);
    if (!known)
        return;
    std::snprintf(text.group, sizeof text.group, "%s %d of these %d ranks, by %s",
                  known->inter ? "intercommunicator" : "communicator", known->number, known->size,
                  known->call);
    // A collective call between groups names its root otherwise in each of them, and some of its
    // ranks need not come: it is not judged.
    if (known->inter && wait.direction == 0)
        return;
    text.size = known->size;
    text.members = known->members;
    if (wait.direction == 0)
        return;
    const auto in_world = [&](int peer) {
        return peer >= 0 && peer < known->peers ? known->world_ranks[peer] : -1;
    };
    text.peer = in_world(wait.peer);
    text.send_peer = in_world(wait.send_peer);
}

} // namespace sennit::mpi
