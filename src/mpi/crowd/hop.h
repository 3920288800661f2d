// SPDX-License-Identifier: Apache-2.0
// For a rank that is a rank fiber (src/ranks/fibers). Its main flow waits without the kernel.
// Neighbours in the same address space ring for it, and it goes on. Others tell its host to look.
//
// State: this rank's fiber and its neighbours', written in MPI_Init before anybody waits.
#pragma once

#include "node/board.h"
#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace sennit::mpi {

class Hops {
  public:
    constexpr Hops() = default;
    Hops(const Hops &) = delete;
    Hops &operator=(const Hops &) = delete;

    // Is this rank to be a rank fiber?
    static bool wanted();
    // The ranks of `job` have joined the board. The calling thread is the rank's main flow.
    void begin(node::Board &board, std::uint64_t job);
    // Does the host take the cores of a pool that this rank computes on?
    bool workers_take_cores() const { return own_ && own_->is_pooled; }
    // From now on. No rank of `job` looks at the slots of its job on the board any more, for now
    // the host has one, too.
    void leave_cores_to_workers(std::uint64_t job) const {
        own_->job.store(job, std::memory_order_release); // pairs with virt::Parties::follow()
    }
    void after_fork_in_child() { own_ = nullptr; }

    // Is the caller the flow that can hop?
    bool here() const {
        return own_ && reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) == thread_;
    }
    // Wait on the bell of this rank, as Bell::sleep does. The bell was armed as Bell::kFiber.
    bool sleep(wait::Bell &bell, std::uint32_t seen, std::int64_t limit_ns) const;
    void yield() const { own_->calls->yield(*own_); }
    // Could another fiber go on where this one runs?
    bool keeps_others() const { return own_->calls->keeps_others(*own_); }
    void ring(node::BoardSlot &slot, int number) const {
        if (const pid_t host = ring_first(slot, number))
            tell(host);
    }
    // The same, but one in another address space only hears of it when its host is told. Returns
    // the host that has to be told, or 0. So who rings for many tells their host once.
    pid_t ring_first(node::BoardSlot &slot, int number) const {
        pid_t host = 0;
        slot.bell.ring([&] { host = wake(slot, number); });
        return host;
    }
    void tell(pid_t host) const;

  private:
    struct Neighbour {
        virt::RankFiber *fiber = nullptr; // null: in another address space
        std::atomic<pid_t> host{0};       // of that one; 0: nobody has asked yet
    };
    pid_t wake(const node::BoardSlot &slot, int number) const;

    virt::RankFiber *own_ = nullptr;  // null: this rank is no rank fiber
    std::uintptr_t thread_ = 0;       // its thread pointer
    Neighbour *neighbours_ = nullptr; // of a rank fiber, by slot. Never freed
};

} // namespace sennit::mpi
