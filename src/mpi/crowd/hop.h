// SPDX-License-Identifier: Apache-2.0
// Where the rank is a rank fiber (src/virt): its main flow waits without the kernel, and the rings
// of its neighbours in the same address space make it go on.
//
// State: this rank's fiber and its neighbours', written in MPI_Init before anybody waits.
#pragma once

#include "node/board.h"
#include "virt/rank_fiber.h"

#include <cstdint>

namespace sennit::mpi {

class Hops {
  public:
    constexpr Hops() = default;
    Hops(const Hops &) = delete;
    Hops &operator=(const Hops &) = delete;

    // Is this rank to be a fiber?
    static bool wanted();
    // The ranks of `job` have joined the board. The calling thread is the rank's main flow.
    void begin(node::Board &board, std::uint64_t job);
    void after_fork_in_child() { own_ = nullptr; }

    // Is the caller the flow that can hop?
    bool here() const {
        return own_ && reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) == thread_;
    }
    // A wait on the bell of this rank, which was armed as Bell::kFiber, as Bell::sleep.
    bool sleep(node::Bell &bell, std::uint32_t seen, std::int64_t limit_ns) const;
    void yield() const { own_->calls->yield(*own_); }
    void ring(node::Bell &bell, int slot) const {
        if (!fibers_ || !fibers_[slot]) {
            bell.ring();
            return;
        }
        bell.ring([&] { own_->calls->ring(*fibers_[slot], here() ? own_ : nullptr); });
    }

  private:
    virt::RankFiber *own_ = nullptr;     // null: this rank is none
    std::uintptr_t thread_ = 0;          // its thread pointer
    virt::RankFiber **fibers_ = nullptr; // by slot; null: not of this address space. Never freed
};

} // namespace sennit::mpi
