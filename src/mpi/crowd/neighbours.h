// SPDX-License-Identifier: Apache-2.0
// Which ranks to wake: the bells of the ranks of this job that are on this node (node/board.h).
//
// State:
// - the slots of the ranks of MPI_COMM_WORLD, written before the first call that reads them;
// - the same for every other communicator, in an attribute of it, made once, under a mutex;
// - a few ranks to or from which long messages are under way (`recent_`): any thread, relaxed, a
//   hint.
#pragma once

#include "base/guard.h"
#include "base/spin.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/hop.h"
#include "mpi/crowd/length.h"
#include "node/board.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <pthread.h>

namespace sennit::mpi {

class Members;

// The slots of a communicator's ranks, to which messages go.
struct Ranks {
    int size;
    int own;               // the rank of this process, or -1
    bool of_job;           // all of its processes are of this job
    std::int16_t slots[1]; // `size`; -1: on another node, or without a slot

    // The one with this slot; there is one.
    int rank_at(int slot) const {
        int rank = 0;
        while (slots[rank] != slot)
            ++rank;
        return rank;
    }
};

class Neighbours {
  public:
    constexpr Neighbours(Hops &hops, const Lengths &lengths) : hops_(hops), lengths_(lengths) {}
    Neighbours(const Neighbours &) = delete;
    Neighbours &operator=(const Neighbours &) = delete;

    // All ranks of `job` have joined the boards of their nodes. `own` is the slot of this process.
    // Without a board it is null, and nobody is rung.
    void begin(node::Board &board, node::BoardSlot *own, std::uint64_t job);
    void after_fork_in_child();

    // Arm this rank's bell: from now on a ring makes sleep(the result) return at once
    // (wait/bell.h).
    std::uint32_t arm();
    bool sleep(std::uint32_t seen, std::int64_t limit_ns);
    bool all_have_bells() const { return all_have_bells_; }
    // Does a yield pass the core on to other ranks?
    bool yields_reach_them() const { return yields_reach_them_; }
    // Do they share the node's cores?
    bool share_cores() const { return share_cores_; }
    void share_cores(bool shares) { share_cores_ = shares; }
    // Does MPI itself yield in a test?
    bool tests_yield() const { return tests_yield_; }

    // The slots of its ranks. Null: nothing is known of them. It lives as long as the communicator.
    const Ranks *ranks_of(MPI_Comm comm);
    // Are all of the communicator's processes of this job? (Those of another job may have decided
    // otherwise.) For this no memory is needed: the answer is the same on all of its ranks.
    bool are_of_job(MPI_Comm comm);
    // Is this process one of its ranks, and are all of them on this node? Returns how many they
    // are, or 0; also without memory.
    int ranks_on_node(MPI_Comm comm);
    // Ring this rank: a message has been sent to it, or one that it sends is wanted.
    void ring(MPI_Comm comm, int peer);
    // An operation on a window has been started: ring its target, which may have to answer.
    void ring_target(MPI_Win win, int target);
    // A collective call has been started: ring the ranks that it sends to.
    void ring_partners(MPI_Comm comm, int root);
    // The same, and the program waits for the call's request: they may have to answer.
    void note_partners(MPI_Comm comm, int root, std::int64_t bytes);
    // Ring all ranks of the node: one of them may have to do something, and nobody knows which one.
    void ring_all() { ring_each(world_); }
    // Ring all of the communicator's ranks that are on the node.
    void ring_members(MPI_Comm comm) { ring_each(ranks_of(comm)); }
    // Ring another thread of this rank.
    void ring_own();
    // A long message to or from this rank is under way.
    void note(MPI_Comm comm, int peer, std::int64_t bytes);
    // The slot of this rank, or -1. With it, ring_slot() and note_slot() later do what ring() and
    // note() do.
    int slot_of(MPI_Comm comm, int peer);
    int own_slot() const { return world_ ? world_->slots[world_->own] : -1; }
    // This rank has found out that the job cannot go on, and is about to say so and to end it. Only
    // one rank of the node does that: for it the call returns. For the others it does not, as a
    // rule (node/board.h). Needs a board.
    void claim_end();
    void ring_slot(int slot);
    void note_slot(int slot, std::int64_t bytes);
    // Ring the other ranks on which the operation may depend. `found`: MPI has found messages, and
    // may have answered them; then also those to or from which other long messages are under way.
    void ring_for(const Operation &operation, bool found);
    // MPI has found messages outside of any wait: ring the latter.
    void ring_recent();
    // May it take several answers of another rank? Anything but a short collective may.
    bool may_go_in_pieces(const Operation &operation) const {
        return operation.turn.kind != Object::Kind::communicator ||
               lengths_.may_be_long(operation.bytes);
    }
    // This rank has armed its bell, to sleep until the operation is over. Those that it may need,
    // the receiver of a send above all, are to ring when they have called MPI (node/board.h).
    void ask_for(const Operation &operation);
    void ask_nobody();
    // This rank has called MPI: ring those that ask it.
    void answer();
    // How often one wait for the operation may call ring_for().
    int answers(const Operation &operation);

  private:
    static constexpr int kRecent = 16;
    static constexpr std::uint32_t kOnce = 1U << 16;
    static constexpr std::int64_t kMostTimes = kOnce - 1;
    static int slot_in(std::uint32_t recent) { return static_cast<int>(recent % kOnce) - 1; }

    void ring_each(const Ranks *ranks);
    void ring_other(int slot);
    template <class Visit>
    void each_partner(MPI_Comm comm, int root, Visit visit);
    static bool are_of_job(const Members &peers, MPI_Comm comm);
    const Ranks *find_ranks(MPI_Comm comm) const;
    const Ranks *make_ranks(MPI_Comm comm);
    void find_slots(node::Board &board, std::uint64_t job);
    wait::Bell &bell() { return own_ ? own_->bell : alone_; }

    Hops &hops_;
    const Lengths &lengths_;
    node::Board *board_ = nullptr;
    node::BoardSlot *own_ = nullptr;
    Ranks *world_ = nullptr;
    bool all_have_bells_ = false;
    bool yields_reach_them_ = true;
    bool tests_yield_ = false;
    bool share_cores_ = false;
    int key_ = 0; // of the attribute
    // slot + 1, and how often the slot may still be rung; 0: none
    Atomic<std::uint32_t> recent_[kRecent] = {};
    Mutex making_;     // a communicator's ranks are made once
    wait::Bell alone_; // without a board: only timers end a sleep on it
};

} // namespace sennit::mpi
