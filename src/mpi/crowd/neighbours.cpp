// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/neighbours.h"

#include "base/compiler.h"
#include "base/guard.h"
#include "mpi/call/bare.h"
#include "mpi/call/members.h"
#include "mpi/quirks/open_mpi.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <sys/types.h>

namespace sennit::mpi {

namespace {

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};

Ranks *allocate(int size) {
    const std::size_t bytes = sizeof(Ranks) + static_cast<std::size_t>(size) * sizeof(std::int16_t);
    auto *ranks = static_cast<Ranks *>(std::malloc(bytes));
    if (ranks) {
        ranks->size = size;
        ranks->own = -1;
        ranks->of_job = false;
        std::fill_n(ranks->slots, size, std::int16_t{-1});
    }
    return ranks;
}

// In how many pieces an MPI library may send a long message, each of which the receiver has to take
// before the next but some can come.
std::int64_t pieces(std::int64_t bytes) {
    constexpr std::int64_t piece = 4096;
    return std::max<std::int64_t>(bytes, 0) / piece;
}

int free_ranks(MPI_Comm, int, void *ranks, void *) {
    std::free(ranks);
    return MPI_SUCCESS;
}

} // namespace

void Neighbours::begin(node::Board &board, node::BoardSlot *own, std::uint64_t job) {
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    static constexpr auto make_key = SENNIT_BARE(Comm_create_keyval);
    const Inside inside;
    int size = 0;
    get_size(MPI_COMM_WORLD, &size);
    world_ = allocate(size);
    if (!world_)
        return;
    get_rank(MPI_COMM_WORLD, &world_->own);
    world_->of_job = true;
    tests_yield_ = make_tests_yield(!Hops::wanted()); // a fiber has a better way
    make_key(MPI_COMM_NULL_COPY_FN, free_ranks, &key_, nullptr);
    board_ = &board;
    own_ = own;
    ask_nobody(); // the last one that had the slot may have
    if (own)
        find_slots(board, job);
}

void Neighbours::find_slots(node::Board &board, std::uint64_t job) {
    int found = 0;
    board.each([&](int number, const node::BoardSlot &slot) {
        const int member = slot.member.rank;
        if (slot.job.load(std::memory_order_relaxed) != job || member < 0 || member >= world_->size)
            return;
        world_->slots[member] = static_cast<std::int16_t>(number);
        yields_reach_them_ = yields_reach_them_ && slot.member.group == own_->member.group;
        ++found;
    });
    all_have_bells_ = found == world_->size;
}

void Neighbours::after_fork_in_child() {
    own_ = nullptr; // the slot is the parent's
    hops_.after_fork_in_child();
    world_ = nullptr;
    all_have_bells_ = false;
}

const Ranks *Neighbours::make_ranks(MPI_Comm comm) {
    static constexpr auto set = SENNIT_BARE(Comm_set_attr);
    const Guard guard(making_); // or one thread's would be freed by another's
    if (const Ranks *made = find_ranks(comm))
        return made;
    const Members peers(comm);
    if (!peers.known())
        return nullptr;
    std::unique_ptr<Ranks, Free> ranks(allocate(peers.size()));
    if (!ranks)
        return nullptr;
    ranks->own = peers.own_rank();
    ranks->of_job = are_of_job(peers, comm);
    for (int i = 0; i < peers.size(); ++i)
        if (const int rank = peers.in_world(i); rank >= 0)
            ranks->slots[i] = world_->slots[rank];
    return set(comm, key_, ranks.get()) == MPI_SUCCESS ? ranks.release() : nullptr;
}

bool Neighbours::are_of_job(const Members &peers, MPI_Comm comm) {
    if (peers.of_inter() && Members(comm, Members::Side::own).fingerprint() == 0)
        return false;
    for (int i = 0; i < peers.size(); ++i)
        if (peers.in_world(i) < 0)
            return false;
    return true;
}

bool Neighbours::are_of_job(MPI_Comm comm) {
    if (const Ranks *ranks = ranks_of(comm))
        return ranks->of_job;
    if (!world_ || comm == MPI_COMM_NULL)
        return false;
    const Inside inside;
    const Members peers(comm);
    return peers.known() && are_of_job(peers, comm);
}

int Neighbours::ranks_on_node(MPI_Comm comm) {
    if (!world_)
        return 0;
    if (const Ranks *const ranks = ranks_of(comm))
        return ranks->own >= 0 && std::all_of(ranks->slots, ranks->slots + ranks->size,
                                              [](std::int16_t slot) { return slot >= 0; })
                   ? ranks->size
                   : 0;
    const Inside inside;
    const Members members(comm);
    if (members.of_inter() || members.own_rank() < 0)
        return 0;
    for (int i = 0; i < members.size(); ++i)
        if (const int rank = members.in_world(i); rank < 0 || world_->slots[rank] < 0)
            return 0;
    return members.size();
}

const Ranks *Neighbours::find_ranks(MPI_Comm comm) const {
    static constexpr auto get = SENNIT_BARE(Comm_get_attr);
    void *ranks = nullptr;
    int flag = 0;
    if (get(comm, key_, static_cast<void *>(&ranks), &flag) != MPI_SUCCESS || !flag)
        return nullptr;
    return static_cast<const Ranks *>(ranks);
}

const Ranks *Neighbours::ranks_of(MPI_Comm comm) {
    if (!world_ || comm == MPI_COMM_NULL)
        return nullptr;
    if (comm == MPI_COMM_WORLD)
        return world_;
    const Inside inside;
    const Ranks *const ranks = find_ranks(comm);
    return ranks ? ranks : make_ranks(comm);
}

SENNIT_HOT std::uint32_t Neighbours::arm() {
    return bell().arm(hops_.here() ? wait::Bell::kFiber : wait::Bell::kThread);
}

SENNIT_HOT bool Neighbours::sleep(std::uint32_t seen, std::int64_t limit_ns) {
    return hops_.here() ? hops_.sleep(bell(), seen, limit_ns) : bell().sleep(seen, limit_ns);
}

SENNIT_HOT void Neighbours::ring_slot(int slot) {
    if (slot >= 0)
        hops_.ring(board_->slot(slot), slot);
}

SENNIT_HOT void Neighbours::ring(MPI_Comm comm, int peer) {
    ring_slot(slot_of(comm, peer));
}

void Neighbours::ring_target(MPI_Win win, int target) {
    if (!world_)
        return;
    const Inside inside;
    const int rank = target_in_world(win, target);
    if (rank < 0 || rank == world_->own)
        return;
    const int slot = world_->slots[rank];
    note_slot(slot, 0);
    ring_slot(slot);
}

SENNIT_HOT int Neighbours::slot_of(MPI_Comm comm, int peer) {
    const Ranks *ranks = ranks_of(comm);
    return ranks && peer >= 0 && peer < ranks->size ? ranks->slots[peer] : -1;
}

// Collectives send along powers of two: to the ranks at these distances in a ring, and to those
// whose number differs in one bit; or from and to the root. visit(slot), some of them twice.
template <class Visit>
void Neighbours::each_partner(MPI_Comm comm, int root, Visit visit) {
    const Ranks *ranks = ranks_of(comm);
    if (!ranks || ranks->own < 0)
        return;
    const int size = ranks->size;
    for (int distance = 1; distance < size; distance *= 2) {
        visit(ranks->slots[(ranks->own + distance) % size]);
        visit(ranks->slots[(ranks->own + size - distance) % size]);
        if ((ranks->own ^ distance) < size)
            visit(ranks->slots[ranks->own ^ distance]);
    }
    if (root >= 0 && root < size && root != ranks->own)
        visit(ranks->slots[root]);
}

void Neighbours::ring_partners(MPI_Comm comm, int root) {
    each_partner(comm, root, [this](int slot) { ring_slot(slot); });
}

void Neighbours::note_partners(MPI_Comm comm, int root, std::int64_t bytes) {
    each_partner(comm, root, [&](int slot) { note_slot(slot, std::max<std::int64_t>(bytes, 0)); });
}

void Neighbours::ring_each(const Ranks *ranks) {
    pid_t untold = 0; // neighbours are of one host, as a rule
    for (int rank = 0; ranks && rank < ranks->size; ++rank) {
        const int slot = ranks->slots[rank];
        if (rank == ranks->own || slot < 0)
            continue;
        const pid_t host = hops_.ring_first(board_->slot(slot), slot);
        if (host == 0 || host == untold)
            continue;
        if (untold != 0)
            hops_.tell(untold);
        untold = host;
    }
    if (untold != 0)
        hops_.tell(untold);
}

// All ranks of the node find the same one.
void Neighbours::claim_end() {
    const auto is_here = [](std::int16_t slot) { return slot >= 0; };
    const std::int16_t *first = std::find_if(world_->slots, world_->slots + world_->size, is_here);
    board_->slot(*first).ending.claim(own_->job.load(std::memory_order_relaxed));
}

void Neighbours::ring_own() {
    if (world_)
        ring_slot(world_->slots[world_->own]);
}

void Neighbours::note(MPI_Comm comm, int peer, std::int64_t bytes) {
    note_slot(slot_of(comm, peer), bytes);
}

void Neighbours::note_slot(int slot, std::int64_t bytes) {
    if (slot < 0)
        return;
    constexpr std::int64_t fewest = 8;
    const auto number = static_cast<std::uint32_t>(slot);
    Atomic<std::uint32_t> &entry = recent_[number % kRecent];
    const std::uint32_t before = entry.load(std::memory_order_relaxed);
    const std::int64_t more = slot_in(before) == slot ? before / kOnce : 0; // messages before
    const auto times =
        static_cast<std::uint32_t>(std::min(more + fewest + pieces(bytes), kMostTimes));
    entry.store(times * kOnce + number + 1, std::memory_order_relaxed);
}

void Neighbours::ring_for(const Operation &operation, bool found) {
    if (!world_)
        return;
    const bool collective = operation.turn.kind == Object::Kind::communicator;
    const bool message = operation.object.kind == Object::Kind::communicator;
    const bool is_long = lengths_.may_be_long(operation.bytes);
    if (collective && !operation.assembled)
        ring_partners(handle_from<MPI_Comm>(operation.object.handle), operation.peer);
    else if (message && is_long)
        ring_other(slot_of(handle_from<MPI_Comm>(operation.object.handle), operation.peer));
    if (found || !message || operation.assembled || is_long)
        ring_recent();
}

void Neighbours::ring_recent() {
    for (Atomic<std::uint32_t> &entry : recent_) {
        const std::uint32_t value = entry.load(std::memory_order_relaxed);
        if (value == 0)
            continue;
        entry.store(value < 2 * kOnce ? 0 : value - kOnce, std::memory_order_relaxed);
        ring_other(slot_in(value));
    }
}

// The caller has armed its own bell.
void Neighbours::ring_other(int slot) {
    if (slot != own_slot())
        ring_slot(slot);
}

SENNIT_HOT void Neighbours::ask_for(const Operation &operation) {
    if (!own_)
        return;
    const auto mark = [this](int slot) {
        if (slot >= 0)
            board_->slot(slot).asking.mark();
    };
    if (operation.turn.kind == Object::Kind::communicator) {
        if (operation.assembled || !may_go_in_pieces(operation))
            return;
        own_->asking.ask_anybody();
        each_partner(handle_from<MPI_Comm>(operation.object.handle), operation.peer, mark);
    } else if (operation.notice == Notice::send &&
               operation.object.kind == Object::Kind::communicator) {
        const int slot = slot_of(handle_from<MPI_Comm>(operation.object.handle), operation.peer);
        own_->asking.ask(slot);
        mark(slot);
    } else if (operation.requests > 0) {
        own_->asking.ask_anybody();
        for (const Atomic<std::uint32_t> &entry : recent_)
            mark(slot_in(entry.load(std::memory_order_relaxed)));
    } else {
        return;
    }
    full_fence(); // pairs with answer()
}

SENNIT_HOT void Neighbours::ask_nobody() {
    if (own_)
        own_->asking.ask_nobody();
}

SENNIT_HOT void Neighbours::answer() {
    if (!own_)
        return;
    full_fence(); // pairs with ask_for()
    if (!own_->asking.take_mark())
        return;
    const int own = own_slot();
    for (int rank = 0; rank < world_->size; ++rank)
        if (const int slot = world_->slots[rank]; slot >= 0 && board_->slot(slot).asking.asks(own))
            ring_slot(slot);
}

int Neighbours::answers(const Operation &operation) {
    if (operation.turn.kind != Object::Kind::communicator || !world_)
        return static_cast<int>(operation.bytes < 0 // as often as the messages were noted for
                                    ? kMostTimes
                                    : std::min(64 + pieces(operation.bytes), kMostTimes));
    // A collective's pieces are larger. Each ring is for several ranks, one of which may be late.
    constexpr std::int64_t pieces_a_ring = 8;
    const std::int64_t more =
        may_go_in_pieces(operation) ? pieces(operation.bytes) / pieces_a_ring : 0;
    return 2 * std::bit_width(static_cast<unsigned>(world_->size)) + 2 +
           static_cast<int>(std::min(more, kMostTimes));
}

} // namespace sennit::mpi
