// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/request_table.h"

#include "base/spin.h"
#include "mpi/engine/engine.h"
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

#ifdef MPICH_NUMVERSION

bool is_born_complete(MPI_Request request) {
    return static_cast<unsigned>(request) >> 30 == 1; // of the handles that are built in
}

static void learn_to_know_complete_ones() {}

#else

// Open MPI has one.
static std::atomic<std::uintptr_t> g_born_complete{0};

bool is_born_complete(MPI_Request request) {
    return handle_bits(request) == g_born_complete.load(std::memory_order_relaxed);
}

static void learn_to_know_complete_ones() {
    static constexpr auto receive = SENNIT_BARE(Irecv);
    static constexpr auto wait = SENNIT_BARE(Wait);
    static constexpr auto initialized = SENNIT_BARE(Initialized);
    int world = 0; // none in a program that has only sessions
    if (initialized(&world) != MPI_SUCCESS || !world)
        return;
    const Inside inside;
    MPI_Request requests[2];
    for (MPI_Request &request : requests)
        if (receive(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request) !=
            MPI_SUCCESS)
            return;
    if (requests[0] == requests[1])
        g_born_complete.store(handle_bits(requests[0]), std::memory_order_relaxed);
    for (MPI_Request &request : requests)
        wait(&request, MPI_STATUS_IGNORE);
}

#endif

void begin_request_table() {
    if (notes() || (g_attention.load(std::memory_order_relaxed) & kTasks) == 0)
        return;
    learn_to_know_complete_ones();
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
