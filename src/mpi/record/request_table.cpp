// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/request_table.h"

#include "mpi/call/bare.h"

#include <cstdlib>
#include <cstring>

namespace sennit::mpi {

template <class Visit>
bool RequestTable::at_entry_of(MPI_Request request, Visit visit) {
    const std::uintptr_t handle = handle_bits(request);
    for (unsigned way = 0; way < kWays; ++way) {
        Entry &here = entry(handle, way);
        const Guard guard(here.lock);
        if (!here.is_of(handle))
            continue;
        visit(here);
        return true;
    }
    return false;
}

// The entry that the request has had, else a free one. A request that is not struck out stays where
// it is. So there is only one way then.
unsigned RequestTable::way_for(std::uintptr_t handle) {
    unsigned found = kWays;
    for (unsigned way = 0; way < kWays; ++way) {
        Entry &here = entry(handle, way);
        const Guard guard(here.lock);
        if (here.is_of(handle))
            return way;
        if (found == kWays && !here.facts.call)
            found = way;
    }
    return found % kWays;
}

void RequestTable::put(const MPI_Request *request, const RequestFacts &facts) {
    begin();
    const std::uintptr_t handle = handle_bits(*request);
    if (follows()) [[unlikely]]
        return put_followed(handle, facts);
    Entry &here = entries_[hash_place(handle, kEntryBits)];
    const Guard guard(here.lock);
    here.handle = handle;
    here.facts = facts;
}

[[gnu::noinline]] void RequestTable::put_followed(std::uintptr_t handle,
                                                  const RequestFacts &facts) {
    Entry &here = entry(handle, way_for(handle));
    const Guard guard(here.lock);
    here.handle = handle;
    here.facts = facts;
    here.parts = facts.withheld;
}

bool RequestTable::find(MPI_Request request, RequestFacts &facts) {
    return at_entry_of(request, [&](const Entry &here) {
        here.lock.assert_held();
        facts = here.facts;
    });
}

void RequestTable::remove(MPI_Request request) {
    at_entry_of(request, [](Entry &here) {
        here.lock.assert_held();
        here.facts.call = nullptr;
    });
}

void RequestTable::restarted(MPI_Request request) {
    if (!follows())
        return;
    at_entry_of(request, [](Entry &here) {
        here.lock.assert_held();
        here.facts.withheld = here.parts;
    });
}

void RequestTable::ready(MPI_Request request, int parts) {
    if (!follows())
        return;
    at_entry_of(request, [&](Entry &here) {
        here.lock.assert_held();
        here.facts.withheld -= parts;
    });
}

void RequestTable::forget(const MPI_Comm *comm) {
    if (!notes())
        return;
    const std::uintptr_t group = comm ? handle_bits(*comm) : 0;
    for (Entry &entry : entries_) {
        const Guard guard(entry.lock);
        if (entry.facts.group == group)
            entry.facts.call = nullptr;
    }
}

void RequestTable::begin() {
    if (notes() || (g_calls.attention.load(std::memory_order_relaxed) & kTasks) == 0)
        return;
    attend_to(kRequestTable);
}

void RequestTable::follow() {
    begin();
    if (notes())
        attend_to(kFollowed);
}

void Completions::begin(RequestTable &table, int count, const MPI_Request *requests) {
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(MPI_Request);
    handles_ = count <= kFew ? few_ : static_cast<MPI_Request *>(std::malloc(size));
    if (!handles_)
        return; // they stay in the table until they are overwritten
    std::memcpy(handles_, requests, size);
    table_ = &table;
    requests_ = requests;
    count_ = count;
}

void Completions::end() {
    for (int i = 0; i < count_; ++i)
        if (handles_[i] != MPI_REQUEST_NULL && requests_[i] == MPI_REQUEST_NULL)
            table_->strike(handles_[i]);
    if (handles_ != few_)
        std::free(handles_);
}

} // namespace sennit::mpi
