// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/urgency.h"

#include "base/spin.h"
#include "mpi/call/private_comm.h"

#include <cstdlib>

namespace sennit::mpi::urgency {

std::atomic<bool> g_on{false};

namespace {

struct Word { // what is told
    int tag, priority;
};

// What was told before its message was sent: one place for each (peer, tag), as far as they do not
// share one; then the newer is kept.
struct Remembered {
    int peer = -1, tag = 0, priority = 0;
};
constexpr std::uint32_t kPlaces = 8192;
Remembered g_remembered[kPlaces]; // who polls, and who sends: under g_lock
SpinLock g_lock;

// Words on their way. When all places are taken, what there is to tell is not told.
struct Outgoing {
    Word word;
    MPI_Request request;
};
constexpr int kOutgoing = 64;
Outgoing g_outgoing[kOutgoing]; // under g_lock
int g_next = 0;

MPI_Comm g_comm;
int g_ranks = 0;
int *g_told = nullptr; // how many words each rank was sent; under g_lock
int g_heard = 0;       // words that came
Word g_incoming;
MPI_Request g_incoming_request;

Remembered &place_of(int peer, int tag) {
    const auto mixed = (static_cast<std::uint32_t>(peer) * 0x9E3779B1u) ^
                       (static_cast<std::uint32_t>(tag) * 0x85EBCA77u);
    return g_remembered[mixed >> 19];
}
static_assert(kPlaces == 1u << (32 - 19));

void receive_next() {
    static constexpr auto receive = SENNIT_BARE(Irecv);
    receive(&g_incoming, 2, MPI_INT, MPI_ANY_SOURCE, 0, g_comm, &g_incoming_request);
}

bool is_world(const Operation &operation) {
    return operation.object == communicator(MPI_COMM_WORLD);
}

} // namespace

void begin() {
    static constexpr auto size = SENNIT_BARE(Comm_size);
    const Inside inside;
    if (!make_private_comm(&g_comm, "SENNIT_POLICY=global") ||
        size(g_comm, &g_ranks) != MPI_SUCCESS)
        return;
    g_told = static_cast<int *>(std::calloc(static_cast<std::size_t>(g_ranks), sizeof *g_told));
    if (!g_told)
        std::abort(); // the others would wait for us
    for (Outgoing &out : g_outgoing)
        out.request = MPI_REQUEST_NULL;
    receive_next();
    g_on.store(true, std::memory_order_release);
}

void end() {
    if (!on())
        return;
    static constexpr auto reduce = SENNIT_BARE(Reduce_scatter_block);
    static constexpr auto wait = SENNIT_BARE(Wait);
    static constexpr auto cancel = SENNIT_BARE(Cancel);
    static constexpr auto free_comm = SENNIT_BARE(Comm_free);
    const Inside inside;
    g_on.store(false, std::memory_order_release);
    // Every word is taken, also those that nobody needs any more.
    int expected = 0;
    reduce(g_told, &expected, 1, MPI_INT, MPI_SUM, g_comm);
    for (; g_heard < expected; ++g_heard) {
        wait(&g_incoming_request, MPI_STATUS_IGNORE);
        receive_next();
    }
    cancel(&g_incoming_request);
    wait(&g_incoming_request, MPI_STATUS_IGNORE);
    for (Outgoing &out : g_outgoing)
        wait(&out.request, MPI_STATUS_IGNORE);
    free_comm(&g_comm);
    std::free(g_told);
    g_told = nullptr;
}

void tell(const Operation &operation, int priority) {
    if (operation.notice != Notice::receive || operation.count < kLongMessage ||
        operation.peer < 0 || operation.tag < 0 || !is_world(operation))
        return;
    static constexpr auto test = SENNIT_BARE(Test);
    static constexpr auto send = SENNIT_BARE(Isend);
    const Inside inside;
    g_lock.lock();
    Outgoing &out = g_outgoing[g_next];
    int free = 1;
    if (out.request != MPI_REQUEST_NULL)
        test(&out.request, &free, MPI_STATUS_IGNORE);
    if (free) {
        g_next = (g_next + 1) % kOutgoing;
        out.word = {operation.tag, priority};
        if (send(&out.word, 2, MPI_INT, operation.peer, 0, g_comm, &out.request) == MPI_SUCCESS)
            ++g_told[operation.peer];
    }
    g_lock.unlock();
}

void listen(void (*heard)(int peer, int tag, int priority)) {
    static constexpr auto test = SENNIT_BARE(Test);
    for (;;) {
        int come = 0;
        MPI_Status status;
        if (test(&g_incoming_request, &come, &status) != MPI_SUCCESS || !come)
            return;
        ++g_heard;
        const Word word = g_incoming;
        receive_next();
        heard(status.MPI_SOURCE, word.tag, word.priority);
    }
}

int told(const Operation &operation) {
    if (!is_world(operation))
        return -1;
    g_lock.lock();
    Remembered &place = place_of(operation.peer, operation.tag);
    const bool there = place.peer == operation.peer && place.tag == operation.tag;
    const int priority = there ? place.priority : -1;
    if (there)
        place.peer = -1;
    g_lock.unlock();
    return priority;
}

void remember(int peer, int tag, int priority) {
    g_lock.lock();
    place_of(peer, tag) = {peer, tag, priority};
    g_lock.unlock();
}

} // namespace sennit::mpi::urgency
