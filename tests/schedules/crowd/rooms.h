// SPDX-License-Identifier: Apache-2.0
// Ranks of a node on a board, each a thread of the test. What they call of MPI and of the system
// stands in for them.
#pragma once

#include "mpi/crowd/assembled.h"
#include "mpi/crowd/hop.h"
#include "mpi/crowd/length.h"
#include "mpi/crowd/neighbours.h"
#include "node/board.h"
#include "schedules.h"

#include <array>
#include <span>
#include <vector>

namespace sennit::schedules {

// What a rank's process has of its own.
struct Rank {
    mpi::Hops hops;
    mpi::Lengths lengths;
    mpi::Neighbours neighbours{hops, lengths};
    mpi::Assembled assembled{neighbours};
};

class Node {
  public:
    static constexpr int kMost = 3;
    static constexpr std::uint64_t kJob = 7;
    explicit Node(int ranks) : ranks_(ranks) {}

    // All of them join the board, and meet at the assembly. It is called before the threads begin.
    void begin();
    void add_memory(std::vector<std::span<std::byte>> &all);
    // A test of `object`, which has this node: it begins as the node does. Its threads are missing.
    template <class Object>
    Test test_of(Object &object) {
        Test test;
        add_memory(test.memory);
        test.memory.push_back(memory_of(object));
        test.begin = [this] { begin(); };
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        return test;
    }
    Rank &rank(int number) { return of_rank_[static_cast<std::size_t>(number)]; }
    int ranks() const { return ranks_; }
    node::BoardSlot &slot(int rank) { return board_.slot(rank); }
    node::Assembly::Part &part(int rank) { return board_.part(rank); }
    node::Assembly &assembly() { return *assembly_; }

  private:
    const int ranks_;
    node::Board board_;
    node::Assembly *assembly_ = nullptr;
    std::array<Rank, kMost> of_rank_;
};

} // namespace sennit::schedules
