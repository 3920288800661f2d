// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/collective_calls.h"

namespace sennit::mpi {

CollectiveCalls::Place *CollectiveCalls::find(std::uintptr_t handle, bool make) {
    const unsigned first = bucket_of_bits(handle, kPlaceBits);
    for (unsigned i = 0; i < kProbes; ++i) {
        Place &place = places_[(first + i) % kPlaces];
        std::uintptr_t there = place.handle.load(std::memory_order_relaxed);
        if (there == handle)
            return &place;
        if (there != 0)
            continue;
        if (!make)
            return nullptr;
        if (place.handle.compare_exchange_strong(there, handle, std::memory_order_relaxed) ||
            there == handle)
            return &place;
    }
    return nullptr;
}

int CollectiveCalls::count(Object comm, const char *name, int root) {
    if (comm.kind != Object::Kind::communicator)
        return -1;
    Place *const place = find(comm.handle, true);
    if (!place)
        return -1;
    const int before = place->calls.load(std::memory_order_relaxed);
    const int at = before % SENNIT_COLLECTIVES_KEPT;
    place->names[at].store(name, std::memory_order_relaxed);
    place->roots[at].store(root, std::memory_order_relaxed);
    // Pairs with the acquire of the reader. So the reader sees the names of all that are counted.
    place->calls.store(before + 1, std::memory_order_release);
    return before + 1;
}

void CollectiveCalls::forget(const MPI_Comm *comm) {
    if (Place *const place = comm ? find(handle_bits(*comm), false) : nullptr)
        place->calls.store(0, std::memory_order_relaxed);
}

void CollectiveCalls::visit(void (*visit)(void *, const sennit_collectives *), void *arg) const {
    for (const Place &place : places_) {
        sennit_collectives made{};
        made.group = place.handle.load(std::memory_order_relaxed);
        made.calls = place.calls.load(std::memory_order_acquire);
        for (int i = 0; i < SENNIT_COLLECTIVES_KEPT && i < made.calls; ++i) {
            const int at = (made.calls - 1 - i) % SENNIT_COLLECTIVES_KEPT;
            made.names[i] = place.names[at].load(std::memory_order_relaxed);
            made.roots[i] = place.roots[at].load(std::memory_order_relaxed);
        }
        if (made.calls > 0)
            visit(arg, &made);
    }
}

} // namespace sennit::mpi
