// SPDX-License-Identifier: Apache-2.0
// Communicators that are made from one whose small collective calls are made without messages
// (assembled.h): theirs are, too, as far as there is room.
//
// The ranks of the parent agree on that right after the new communicator is made, by two calls of
// the parent's that follow each other:
// 1. each rank brings its offer: the lane of its part, and rank 0 of each new communicator a place;
// 2. nobody goes on before all have read the offers of the ranks that they need.
// If one rank of a new communicator has no lane left, or there is no place, its collectives are
// MPI's. All of its ranks see the same offers, so they decide alike.
//
// The numbers of the two calls are taken before the communicator is made. So they come in the
// order of the program, also if the task that makes it is suspended meanwhile.
//
// State: `lanes_`, any thread; the rest is written in MPI_Init. What belongs to a communicator is
// in an attribute of it.
#pragma once

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
    std::int32_t lane = -1;
    std::int32_t place = -1; // of the assembly, by rank 0
};

class Children {
  public:
    explicit constexpr Children(Neighbours &neighbours) : neighbours_(neighbours) {}
    Children(const Children &) = delete;
    Children &operator=(const Children &) = delete;

    // MPI_COMM_WORLD's calls are made without messages. `ours`: see Assembled::begin().
    void begin(node::Board &board, int own_slot, std::uint64_t job, MPI_Comm ours);
    // How calls on this communicator are made; null: by MPI.
    Assembled *of(MPI_Comm comm) const;

    // Called between MPI's call and the agreement. Null: this rank offers nothing.
    Child *prepare(MPI_Comm made, Offer &offer);
    // The offers of the ranks of `parent` can be read.
    void agree(Child &child, MPI_Comm made, const Offer &offer, MPI_Comm parent,
               const Assembled &of_parent);

  private:
    static int forget(MPI_Comm, int, void *child, void *children);
    int take_lane();
    void give_lane(int lane) { lanes_.fetch_or(1U << lane, std::memory_order_release); }

    Neighbours &neighbours_;
    node::Board *board_ = nullptr;
    int own_slot_ = -1;
    std::uint64_t job_ = 0;
    MPI_Comm ours_{};
    int key_ = 0;                         // of the attribute
    std::atomic<std::uint32_t> lanes_{0}; // those that are free
};

} // namespace sennit::mpi
