// SPDX-License-Identifier: Apache-2.0
// Communicators that the program makes, whose ranks are all on this node: their small collective
// calls are made without messages (assembled.h), as far as there is room.
//
// Its ranks agree on that right after the communicator is made. Each rank brings its offer: the
// lane of its part, and rank 0 a place. If one rank has no lane left, or there is no place, its
// collectives are MPI's. All of its ranks see the same offers, so they decide alike.
//
// If the parent's calls are made without messages, the offers come by a call of the parent's, whose
// result they are. If its ranks are too many for that, each reads the offers where the others have
// brought them. Then a second call follows, after which all have read them. The numbers
// of the calls are taken before the communicator is made. So they come in the order of the
// program, also if the task that makes it is suspended meanwhile.
//
// If the job is on several nodes, they come by a message of MPI's on the new communicator.
//
// A rank that frees a communicator may have left something in its part that the root of a reduction
// has not taken. Then its lane is free when all ranks have freed the communicator.
//
// State: `lanes_` and `left_`, any thread; `left_in_`, whoever holds the lane; the rest is written
// in MPI_Init. What belongs to a communicator is in an attribute of it.
#pragma once

#include "base/spin.h"
#include "mpi/crowd/assembled.h"
#include "mpi/crowd/neighbours.h"
#include "node/board.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

struct Child;

// What a rank brings to the agreement on a communicator that it is in, or that it is not in.
struct Offer {
    std::int16_t lane = -1;
    std::int16_t place = -1; // of the assembly, by rank 0
};

class Children {
  public:
    explicit constexpr Children(Neighbours &neighbours) : neighbours_(neighbours) {}
    Children(const Children &) = delete;
    Children &operator=(const Children &) = delete;

    // All ranks of the job begin, or none. `ours`: see Assembled::begin(). `several_nodes`: the job
    // is on more than this one.
    void begin(node::Board &board, int own_slot, std::uint64_t job, MPI_Comm ours,
               bool several_nodes);
    void end() { board_ = nullptr; }
    // How calls on this communicator are made; null: by MPI.
    Assembled *of(MPI_Comm comm) const;
    // Do its ranks agree by messages? Alike on all of them.
    bool agree_by_messages(MPI_Comm made) const;

    // Called between MPI's call and the agreement. Null: this rank offers nothing.
    Child *prepare(MPI_Comm made, Offer &offer);
    // Find the offers of the child's ranks among those of all ranks of `parent`.
    void choose_offers(const Child &child, MPI_Comm parent, const Offer *all, Offer *offers) const;
    void agree(Child &child, const Offer &own, const Offer *offers);

  private:
    static int forget(MPI_Comm, int, void *child, void *children);
    int take_lane();
    void look_for_left_lanes();
    void leave_lane(int lane, const Assembled &assembled);
    void give_lane(int lane) { lanes_.fetch_or(1U << lane, std::memory_order_release); }

    Neighbours &neighbours_;
    node::Board *board_ = nullptr;
    int own_slot_ = -1;
    std::uint64_t job_ = 0;
    MPI_Comm ours_{};
    bool several_nodes_ = false;
    int key_ = 0;                    // of the attribute
    Atomic<std::uint32_t> lanes_{0}; // those that are free
    Atomic<std::uint32_t> left_{0};  // those that are when all have left
    struct {
        const node::Assembly *assembly;
        std::uint32_t uses;
    } left_in_[node::Board::kLanes] = {};
};

} // namespace sennit::mpi
