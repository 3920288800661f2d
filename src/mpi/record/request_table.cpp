// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/request_table.h"

#include <mutex>

namespace sennit::mpi {

void RequestTable::put(const MPI_Request *request, const RequestFacts &facts) {
    begin();
    const std::uintptr_t handle = handle_bits(*request);
    Place &place = places_[bucket_of_bits(handle, kPlaceBits)];
    const std::lock_guard guard(place.lock);
    place.handle = handle;
    place.facts = facts;
}

bool RequestTable::find(MPI_Request request, RequestFacts &facts) {
    const std::uintptr_t handle = handle_bits(request);
    Place &place = places_[bucket_of_bits(handle, kPlaceBits)];
    const std::lock_guard guard(place.lock);
    facts = place.facts;
    return facts.call && place.handle == handle;
}

void RequestTable::forget(const MPI_Comm *comm) {
    if (!notes())
        return;
    const std::uintptr_t group = comm ? handle_bits(*comm) : 0;
    for (Place &place : places_) {
        const std::lock_guard guard(place.lock);
        if (place.facts.group == group)
            place.facts.call = nullptr;
    }
}

void RequestTable::begin() {
    if (notes() || (g_attention.load(std::memory_order_relaxed) & kTasks) == 0)
        return;
    attend_to(kRequestTable);
}

} // namespace sennit::mpi
