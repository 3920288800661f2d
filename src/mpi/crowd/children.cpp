// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/children.h"

#include "mpi/call/bare.h"

#include <bit>
#include <new>

namespace sennit::mpi {

struct Child {
    explicit Child(Neighbours &neighbours) : assembled(neighbours) {}
    Assembled assembled;
    int lane = -1;
    const Ranks *members = nullptr; // as long as the communicator lives
};

void Children::begin(node::Board &board, int own_slot, std::uint64_t job, MPI_Comm ours,
                     bool several_nodes) {
    static constexpr auto make_key = SENNIT_BARE(Comm_create_keyval);
    const Inside inside;
    board_ = &board;
    own_slot_ = own_slot;
    job_ = job;
    ours_ = ours;
    several_nodes_ = several_nodes;
    make_key(MPI_COMM_NULL_COPY_FN, forget, &key_, this);
    constexpr std::uint32_t but_the_first = (1U << node::Board::kLanes) - 2;
    lanes_.store(but_the_first, std::memory_order_relaxed);
}

Assembled *Children::of(MPI_Comm comm) const {
    static constexpr auto get = SENNIT_BARE(Comm_get_attr);
    if (!board_ || comm == MPI_COMM_NULL)
        return nullptr;
    const Inside inside;
    void *child = nullptr;
    int flag = 0;
    if (get(comm, key_, static_cast<void *>(&child), &flag) != MPI_SUCCESS || !flag)
        return nullptr;
    Assembled &assembled = static_cast<Child *>(child)->assembled;
    return assembled.is_on() ? &assembled : nullptr;
}

// release and acquire of `left_`, then of `lanes_`: whoever holds the lane has `left_in_`.
void Children::leave_lane(int lane, const Assembled &assembled) {
    left_in_[lane] = {assembled.assembly(), assembled.assembly()->uses()};
    left_.fetch_or(1U << lane, std::memory_order_release);
}

void Children::look_for_left_lanes() {
    for (std::uint32_t left = left_.exchange(0, std::memory_order_acquire); left != 0;
         left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (left_in_[lane].assembly->uses() != left_in_[lane].uses)
            give_lane(lane);
        else
            left_.fetch_or(1U << lane, std::memory_order_release);
    }
}

int Children::take_lane() {
    look_for_left_lanes();
    std::uint32_t free = lanes_.load(std::memory_order_relaxed);
    while (free != 0)
        if (lanes_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                         std::memory_order_relaxed))
            return std::countr_zero(free);
    return -1;
}

Child *Children::prepare(MPI_Comm made, Offer &offer) {
    static constexpr auto set = SENNIT_BARE(Comm_set_attr);
    const Inside inside;
    const Ranks *const members = neighbours_.ranks_of(made);
    const int lane = members ? take_lane() : -1;
    if (lane < 0)
        return nullptr;
    auto *const child = new (std::nothrow) Child(neighbours_);
    if (!child || !child->assembled.prepare(*board_, made, *members) ||
        set(made, key_, child) != MPI_SUCCESS) {
        if (child)
            child->assembled.end();
        delete child;
        give_lane(lane);
        return nullptr;
    }
    child->lane = lane;
    child->members = members;
    board_->part(own_slot_, lane).clear();
    offer.lane = static_cast<std::int16_t>(lane);
    if (members->own != 0)
        return child;
    if (node::Assembly *const place = board_->claim_assembly(job_)) {
        place->begin(members->size);
        offer.place = static_cast<std::int16_t>(board_->number_of(*place));
    }
    return child;
}

bool Children::agree_by_messages(MPI_Comm made) const {
    return board_ && several_nodes_ && made != MPI_COMM_NULL && neighbours_.ranks_on_node(made) > 1;
}

void Children::choose_offers(const Child &child, MPI_Comm parent, const Offer *all,
                             Offer *offers) const {
    const Inside inside;
    const Ranks &ranks = *neighbours_.ranks_of(parent); // it was asked for when that was made
    for (int rank = 0; rank < child.members->size; ++rank)
        offers[rank] = all[ranks.rank_at(child.members->slots[rank])];
}

void Children::agree(Child &child, const Offer &own, const Offer *offers) {
    const Inside inside;
    const Ranks &members = *child.members;
    bool can = offers[0].place >= 0;
    for (int rank = 0; rank < members.size; ++rank) {
        can = can && offers[rank].lane >= 0;
        if (can)
            child.assembled.use_part(rank, board_->part(members.slots[rank], offers[rank].lane));
    }
    if (can)
        return child.assembled.begin(board_->assembly(offers[0].place), ours_);
    if (own.place >= 0)
        board_->assembly(own.place).release();
    give_lane(child.lane);
    child.lane = -1;
}

// The communicator is freed. This rank is through with its last call on it, so nobody reads its
// part any more but for what it has brought to reductions.
int Children::forget(MPI_Comm, int, void *child, void *children) {
    auto *const own = static_cast<Child *>(child);
    auto *const all = static_cast<Children *>(children);
    // Before it leaves: when all have, another communicator may have the assembly.
    if (own->lane >= 0 && own->assembled.is_on() && !own->assembled.is_taken())
        all->leave_lane(own->lane, own->assembled);
    else if (own->lane >= 0)
        all->give_lane(own->lane);
    own->assembled.end();
    delete own;
    return MPI_SUCCESS;
}

} // namespace sennit::mpi
