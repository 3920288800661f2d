// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/persistent.h"

#include "mpi/call/guard.h"

#include <cstdlib>

namespace sennit::mpi {

struct PersistentRequests::Known {
    MPI_Request request;
    PersistentFacts facts;
    Known *next;
};

PersistentRequests::Known **PersistentRequests::place_of(MPI_Request request) {
    Known **at = &buckets_[bucket_of_bits(handle_bits(request), kBucketBits)];
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

void PersistentRequests::put(MPI_Request request, const PersistentFacts &facts) {
    const Guard guard(mutex_);
    Known **at = place_of(request);
    if (!*at && (*at = static_cast<Known *>(std::calloc(1, sizeof(Known)))))
        known_.fetch_add(1, std::memory_order_relaxed);
    if (*at)
        **at = {request, facts, (*at)->next};
}

void PersistentRequests::forget(MPI_Request request) {
    if (known_.load(std::memory_order_relaxed) == 0)
        return;
    const Guard guard(mutex_);
    Known **at = place_of(request);
    if (Known *known = *at) {
        *at = known->next;
        std::free(known);
        known_.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool PersistentRequests::find(MPI_Request request, PersistentFacts &facts) {
    if (known_.load(std::memory_order_relaxed) == 0)
        return false;
    const Guard guard(mutex_);
    const Known *known = *place_of(request);
    if (known)
        facts = known->facts;
    return known != nullptr;
}

bool PersistentRequests::is_known(MPI_Request request) {
    PersistentFacts facts;
    return find(request, facts);
}

} // namespace sennit::mpi
