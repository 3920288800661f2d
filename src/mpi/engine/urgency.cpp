// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/urgency.h"

#include "base/hash.h"
#include "mpi/call/call_path.h"
#include "mpi/call/members.h"

#include <cstdlib>

namespace sennit::mpi {
namespace {

bool is_world(const Operation &operation) {
    return operation.object == communicator(MPI_COMM_WORLD);
}

} // namespace

Urgency::Remembered &Urgency::place_of(int peer, int tag) {
    const std::uint64_t both =
        std::uint64_t{static_cast<std::uint32_t>(peer)} << 32 | static_cast<std::uint32_t>(tag);
    return remembered_[hash_place(both, kPlaceBits)];
}

void Urgency::receive_next() {
    static constexpr auto receive = SENNIT_BARE(Irecv);
    receive(&incoming_, 2, MPI_INT, MPI_ANY_SOURCE, 0, comm_, &incoming_request_);
}

// No other thread is here yet.
void Urgency::begin() SENNIT_NOT_CHECKED {
    static constexpr auto size = SENNIT_BARE(Comm_size);
    const Inside inside;
    if (!make_private_comm(&comm_, "SENNIT_POLICY=global") || size(comm_, &ranks_) != MPI_SUCCESS)
        return;
    told_ = static_cast<int *>(std::calloc(static_cast<std::size_t>(ranks_), sizeof *told_));
    remembered_ = static_cast<Remembered *>(std::calloc(kPlaces, sizeof *remembered_));
    if (!told_ || !remembered_)
        std::abort(); // the others would wait for us
    for (Outgoing &out : outgoing_)
        out.request = MPI_REQUEST_NULL;
    receive_next();
    on_.store(true, std::memory_order_release);
}

// No other thread is here any more, and it waits for other ranks.
void Urgency::end() SENNIT_NOT_CHECKED {
    if (!on())
        return;
    static constexpr auto reduce = SENNIT_BARE(Reduce_scatter_block);
    static constexpr auto wait = SENNIT_BARE(Wait);
    static constexpr auto cancel = SENNIT_BARE(Cancel);
    static constexpr auto free_comm = SENNIT_BARE(Comm_free);
    const Inside inside;
    on_.store(false, std::memory_order_release);
    // Take each word, also the words that nobody needs any more.
    int expected = 0;
    reduce(told_, &expected, 1, MPI_INT, MPI_SUM, comm_);
    for (; heard_ < expected; ++heard_) {
        wait(&incoming_request_, MPI_STATUS_IGNORE);
        receive_next();
    }
    cancel(&incoming_request_);
    wait(&incoming_request_, MPI_STATUS_IGNORE);
    for (Outgoing &out : outgoing_)
        wait(&out.request, MPI_STATUS_IGNORE);
    free_comm(&comm_);
    std::free(told_);
    std::free(remembered_);
    told_ = nullptr;
    remembered_ = nullptr;
}

void Urgency::tell(const Operation &operation, int priority) {
    if (operation.notice != Notice::receive || operation.count < kLongMessage ||
        operation.peer < 0 || operation.tag < 0 || !is_world(operation))
        return;
    static constexpr auto test = SENNIT_BARE(Test);
    static constexpr auto send = SENNIT_BARE(Isend);
    const Inside inside;
    const Guard guard(lock_);
    Outgoing &out = outgoing_[next_];
    int free = 1;
    if (out.request != MPI_REQUEST_NULL)
        test(&out.request, &free, MPI_STATUS_IGNORE);
    if (free) {
        next_ = (next_ + 1) % kOutgoing;
        out.word = {operation.tag, priority};
        if (send(&out.word, 2, MPI_INT, operation.peer, 0, comm_, &out.request) == MPI_SUCCESS)
            ++told_[operation.peer];
    }
}

bool Urgency::take_next(int &peer, Word &word) {
    static constexpr auto test = SENNIT_BARE(Test);
    int come = 0;
    MPI_Status status;
    if (test(&incoming_request_, &come, &status) != MPI_SUCCESS || !come)
        return false;
    ++heard_;
    peer = status.MPI_SOURCE;
    word = incoming_;
    receive_next();
    return true;
}

int Urgency::told(const Operation &operation) {
    if (!is_world(operation))
        return -1;
    const Guard guard(lock_);
    Remembered &place = place_of(operation.peer, operation.tag);
    if (place.sender != operation.peer + 1 || place.tag != operation.tag)
        return -1;
    place.sender = 0;
    return place.priority;
}

void Urgency::remember(int peer, int tag, int priority) {
    const Guard guard(lock_);
    place_of(peer, tag) = {peer + 1, tag, priority};
}

} // namespace sennit::mpi
