// SPDX-License-Identifier: Apache-2.0
// A carrier: one of the host's kernel threads that run rank fibers.
#pragma once

#include "node/core_table.h"
#include "ranks/fibers/carrier_clock.h"
#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

// Why a fiber has left its carrier.
enum class LeaveReason : std::uint32_t { waits, yields, home, gone };

class Crew;
class FiberTurns;
struct Party;

// A Carrier lies at the low end of its stack for signals. So a handler finds it by its stack
// pointer. It cannot use the thread pointer, which may be a rank's.
struct Carrier {
    Crew *crew = nullptr;
    FiberTurns *turns = nullptr;       // the crew, as handlers use it
    void *stack_pointer = nullptr;     // of the carrier's own flow, while it runs a fiber
    std::uintptr_t thread_pointer = 0; // the carrier's own
    // The fiber that it runs. The carrier's handlers read it, and other threads look at it.
    std::atomic<RankFiber *> fiber{nullptr};
    LeaveReason reason = LeaveReason::waits;
    std::atomic<std::uint32_t> runs{0};    // how many fibers it has run, to see a change by
    std::atomic<std::uint32_t> preempt{0}; // 1: its fiber has run for long, and others are ready
    std::atomic<pid_t> thread{0};
    // For whom it has a core. Null: it has none, and needs none. The carrier alone writes these,
    // the party first; the watcher reads them.
    std::atomic<Party *> party{nullptr};
    std::atomic<node::Hold> hold;
    std::uint32_t runs_told = 0; // to the party's policy
    CarrierClock clock;          // for fibers whose time is counted
};

constexpr std::size_t kSignalStack = std::size_t{64} << 10; // and its alignment

inline Carrier *carrier_of_stack(const void *address) {
    return reinterpret_cast<Carrier *>(reinterpret_cast<std::uintptr_t>(address) &
                                       ~(kSignalStack - 1));
}

} // namespace sennit::virt
