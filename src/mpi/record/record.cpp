// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/record.h"

#include "base/guard.h"
#include "base/hash.h"
#include "mpi/call/bare.h"
#include "mpi/engine/engine.h"

#include <cstdlib>
#include <new>

namespace sennit::mpi {

constinit Record g_record;

void Record::starts(int count, const MPI_Request *starting) {
    if (inside_mpi())
        return;
    PersistentFacts facts;
    for (int i = 0; i < count; ++i)
        if (persistent.find(starting[i], facts) && facts.notice == Notice::send)
            g_engine.begin_send(facts.peer);
}

void Record::started(int count, const MPI_Request *starting) {
    if (!(timeline.on() || crowded()) || inside_mpi())
        return;
    PersistentFacts facts;
    for (int i = 0; i < count; ++i) {
        if (!persistent.find(starting[i], facts))
            continue;
        if (timeline.on() && facts.described.call.call)
            timeline.post(facts.described, &starting[i]);
        if (crowded())
            ring(facts);
    }
}

void Record::ring(const PersistentFacts &facts) {
    if (facts.notice == Notice::none) { // a collective or partitioned one: of whoever
        g_crowd.neighbours.ring_all();
        return;
    }
    if (facts.notice == Notice::send)
        g_crowd.neighbours.ring_slot(facts.slot);
    if (g_crowd.lengths.may_be_long(facts.bytes))
        g_crowd.neighbours.note_slot(facts.slot, facts.bytes);
}

int free_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_free);
    g_record.forget(comm);
    return bare(comm);
}

int disconnect_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_disconnect);
    g_record.forget(comm);
    return bare(comm);
}

struct PersistentRequests::Known {
    MPI_Request request;
    PersistentFacts facts;
    Known *next;

    std::uint64_t key() const { return handle_bits(request); }
    Known *&chain() { return next; }
};

void PersistentRequests::put(MPI_Request request, const PersistentFacts &facts) {
    const Guard guard(mutex_);
    if (Known *const known = table_.find(handle_bits(request))) {
        known->facts = facts;
    } else if (void *const memory = std::malloc(sizeof(Known))) {
        table_.add(*new (memory) Known{request, facts, nullptr});
        known_.fetch_add(1, std::memory_order_relaxed);
    }
}

void PersistentRequests::forget(MPI_Request request) {
    if (known_.load(std::memory_order_relaxed) == 0)
        return;
    const Guard guard(mutex_);
    if (Known *const known = table_.take(handle_bits(request))) {
        std::free(known);
        known_.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool PersistentRequests::find(MPI_Request request, PersistentFacts &facts) {
    if (known_.load(std::memory_order_relaxed) == 0)
        return false;
    const Guard guard(mutex_);
    const Known *known = table_.find(handle_bits(request));
    if (known)
        facts = known->facts;
    return known != nullptr;
}

bool PersistentRequests::is_known(MPI_Request request) {
    PersistentFacts facts;
    return find(request, facts);
}

CollectiveCalls::Entry *CollectiveCalls::find(std::uintptr_t handle, bool make) {
    const unsigned first = hash_place(handle, kEntryBits);
    for (unsigned i = 0; i < kProbes; ++i) {
        Entry &entry = entries_[(first + i) % kEntries];
        std::uintptr_t there = entry.handle.load(std::memory_order_relaxed);
        if (there == handle)
            return &entry;
        if (there != 0)
            continue;
        if (!make)
            return nullptr;
        if (entry.handle.compare_exchange_strong(there, handle, std::memory_order_relaxed) ||
            there == handle)
            return &entry;
    }
    return nullptr;
}

int CollectiveCalls::count(Object comm, const char *name, int root) {
    if (comm.kind != Object::Kind::communicator)
        return -1;
    Entry *const entry = find(comm.handle, true);
    if (!entry)
        return -1;
    const int before = entry->calls.load(std::memory_order_relaxed);
    const int at = before % SENNIT_COLLECTIVES_KEPT;
    entry->names[at].store(name, std::memory_order_relaxed);
    entry->roots[at].store(root, std::memory_order_relaxed);
    // Pairs with the acquire of the reader. So the reader sees the names of all that are counted.
    entry->calls.store(before + 1, std::memory_order_release);
    return before + 1;
}

void CollectiveCalls::forget(const MPI_Comm *comm) {
    if (Entry *const entry = comm ? find(handle_bits(*comm), false) : nullptr)
        entry->calls.store(0, std::memory_order_relaxed);
}

void CollectiveCalls::visit(void (*visit)(void *, const sennit_collectives *), void *arg) const {
    for (const Entry &entry : entries_) {
        sennit_collectives made{};
        made.group = entry.handle.load(std::memory_order_relaxed);
        made.calls = entry.calls.load(std::memory_order_acquire);
        for (int i = 0; i < SENNIT_COLLECTIVES_KEPT && i < made.calls; ++i) {
            const int at = (made.calls - 1 - i) % SENNIT_COLLECTIVES_KEPT;
            made.names[i] = entry.names[at].load(std::memory_order_relaxed);
            made.roots[i] = entry.roots[at].load(std::memory_order_relaxed);
        }
        if (made.calls > 0)
            visit(arg, &made);
    }
}

} // namespace sennit::mpi
