// SPDX-License-Identifier: Apache-2.0
// Do the yields of threads that wait in MPI pay (wait/yield_watch.h)? Here times are in
// nanoseconds, not in ticks.
//
// A yield to a rank of the same node is no loss, for however long it computes: others wait for it.
// Ranks write down what they have computed when they begin to wait (node/board.h). Only what a
// yield took beyond that counts.
#pragma once

#include "node/board.h"
#include "wait/yield_watch.h"

#include <cstdint>

namespace sennit::mpi {

class Yields {
  public:
    constexpr Yields() = default;
    Yields(const Yields &) = delete;
    Yields &operator=(const Yields &) = delete;

    // Where the ranks of the node write down their work.
    void begin(node::CoreWork &work) { work_ = &work; }
    bool pay(std::int64_t now) const { return !watch_.wanted(static_cast<std::uint64_t>(now)); }
    // The calling thread begins to wait, and leaves its core to others.
    void stops_work(std::int64_t now);
    void begins_work(std::int64_t now); // what it waited for is over
    // It is about to yield.
    void look();
    // It has yielded since `before`.
    void note(std::int64_t before, std::int64_t now);

  private:
    wait::YieldWatch watch_;
    node::CoreWork *work_ = nullptr;
};

} // namespace sennit::mpi
