// SPDX-License-Identifier: Apache-2.0
// Small collective calls on MPI_COMM_WORLD where ranks outnumber cores and are all on one node:
// MPI_Barrier, and MPI_Allreduce of a few bytes. MPI would send messages in several rounds, and
// each may wake a rank up. Here each rank lays its part down on the board (node/assembly.h), and
// waits for the last one.
//
// Which calls these are, all ranks decide alike: by the communicator, which is MPI_COMM_WORLD
// itself, by which call it is, and by what reduction.h says. Non-blocking and persistent calls,
// which no blocking call matches, are never among them. Results are the same each time, and the
// same as bare (put_together).
//
// Calls of a rank get their numbers as they are made: the program orders calls on one communicator,
// and tasks make them in that order, too. Of a rank, one call at a time is at the assembly, the
// others wait until it is over: they could not be over before.
//
// State: `next_` any thread; `through_` by the one that ends a call; the rest is written in
// MPI_Init.
#pragma once

#include "mpi/crowd/neighbours.h"
#include "mpi/crowd/reduction.h"
#include "node/assembly.h"
#include "node/board.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

class Assembled {
  public:
    explicit constexpr Assembled(Neighbours &neighbours) : neighbours_(neighbours) {}
    Assembled(const Assembled &) = delete;
    Assembled &operator=(const Assembled &) = delete;

    // All ranks of the job have found the assembly. `comm`: of our own, no message is sent there.
    void begin(node::Board &board, node::Assembly &assembly, int rank, MPI_Comm comm);
    // No rank of the job makes another call.
    void end();
    void after_fork_in_child() { assembly_ = nullptr; }

    // Is a call made so? One that reduces nothing:
    bool takes(MPI_Comm comm) const { return assembly_ && comm == MPI_COMM_WORLD; }
    bool takes(MPI_Comm comm, Reduction &reduction) const {
        return takes(comm) && reduction.fits(node::Assembly::kMostBytes);
    }

  private:
    friend class AssembledCall;
    void look_for_messages() const;
    void compare_calls(std::uint32_t own) const;
    void put_together(const Reduction &reduction) const;

    Neighbours &neighbours_;
    node::Assembly *assembly_ = nullptr; // null: no calls are made so
    node::Board *board_ = nullptr;
    int rank_ = -1;
    MPI_Comm comm_{};
    std::atomic<std::uint32_t> next_{0};    // the last number given
    std::atomic<std::uint32_t> through_{0}; // the last call that this rank is through with
};

// One call of this rank; it begins as it is made. Its thread, or who polls for it, tests it.
class AssembledCall {
  public:
    AssembledCall(Assembled &assembled, const char *name, const Reduction &reduction)
        : assembled_(assembled), name_(name), reduction_(reduction),
          number_(assembled.next_.fetch_add(1, std::memory_order_seq_cst) + 1) {}
    AssembledCall(const AssembledCall &) = delete;
    AssembledCall &operator=(const AssembledCall &) = delete;

    // Is it over? The caller is inside MPI; one at a time.
    bool test();

  private:
    bool come();
    void look_around();
    void look_for_missing();

    static constexpr int kTold = -2;
    Assembled &assembled_;
    const char *name_;
    const Reduction &reduction_;
    std::uint32_t number_;
    bool has_come_ = false;
    unsigned looks_ = 0;         // in vain
    std::int64_t looked_ns_ = 0; // for those who have not come
    int stopped_ = -1;           // of these, one that was found stopped
};

} // namespace sennit::mpi
