// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/request_table.h"

#include "base/spin.h"
#include "mpi/call/bare.h"
#include "mpi/record/collective_calls.h"

#include <mutex>

namespace sennit::mpi {
namespace {

struct alignas(64) Place {
    SpinLock lock;
    std::uintptr_t handle;
    RequestFacts facts; // no call: nothing is known
};

constexpr unsigned kPlaceBits = 12;
Place g_places[1u << kPlaceBits];

bool notes() {
    return (g_attention.load(std::memory_order_relaxed) & kRequestTable) != 0;
}

void forget(const MPI_Comm *comm) {
    if (!notes())
        return;
    const std::uintptr_t group = comm ? handle_bits(*comm) : 0;
    for (Place &place : g_places) {
        const std::lock_guard guard(place.lock);
        if (place.facts.group == group)
            place.facts.call = nullptr;
    }
}

} // namespace

void put_in_request_table(const MPI_Request *request, const RequestFacts &facts) {
    begin_request_table();
    const std::uintptr_t handle = handle_bits(*request);
    Place &place = g_places[bucket_of_bits(handle, kPlaceBits)];
    const std::lock_guard guard(place.lock);
    place.handle = handle;
    place.facts = facts;
}

bool find_request(MPI_Request request, RequestFacts &facts) {
    const std::uintptr_t handle = handle_bits(request);
    Place &place = g_places[bucket_of_bits(handle, kPlaceBits)];
    const std::lock_guard guard(place.lock);
    facts = place.facts;
    return facts.call && place.handle == handle;
}

void begin_request_table() {
    if (notes() || (g_attention.load(std::memory_order_relaxed) & kTasks) == 0)
        return;
    attend_to(kRequestTable);
}

int free_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_free);
    forget(comm);
    forget_collectives(comm);
    return bare(comm);
}

int disconnect_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_disconnect);
    forget(comm);
    forget_collectives(comm);
    return bare(comm);
}

} // namespace sennit::mpi
