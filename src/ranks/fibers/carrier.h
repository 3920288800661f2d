// SPDX-License-Identifier: Apache-2.0
// A carrier: one of the host's kernel threads that run rank fibers.
#pragma once

#include "node/core_table.h"
#include "ranks/fibers/rank_fiber.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

// A carrier's processor time, for many short questions. The system's clock takes some 0.2 us, which
// is longer than a switch from one fiber to the next. The processor's counter of ticks takes some
// ten nanoseconds, but it also runs while the system gives the processor to another thread. That is
// not for so short a time as kShort. So a short time since the last question is told in ticks, and
// for a longer one the system is asked.
//
// Invariant: at each question to the system, all that was told since the last one is set off
// against what the system says. So errors do not add up, and the time never goes back.

// Used by the carrier's thread alone.
class CarrierClock {
  public:
    static constexpr std::uint64_t kShort = 1 << 16;  // ticks: 20 to 30 us
    static constexpr std::uint64_t kOfRate = 1 << 20; // a rate is the nanoseconds of so many

    // `rate` 0: it is not known yet. system_ns() asks the system.
    template <class System>
    std::int64_t now_ns(std::uint64_t ticks, std::uint64_t rate, System system_ns) {
        const std::uint64_t more = ticks - ticks_;
        ticks_ = ticks;
        if (more < kShort && rate != 0) {
            told_ns_ += static_cast<std::int64_t>(more * rate / kOfRate);
        } else {
            const std::int64_t is = system_ns();
            now_ns_ += std::max(told_ns_, is - was_ns_);
            was_ns_ = is;
            told_ns_ = 0;
        }
        return now_ns_ + told_ns_;
    }

  private:
    std::uint64_t ticks_ = 0;  // at the last question
    std::int64_t was_ns_ = 0;  // what the system has said last
    std::int64_t now_ns_ = 0;  // what was told then
    std::int64_t told_ns_ = 0; // in ticks, since then
};

// Why a fiber has left its carrier.
enum class LeaveReason : std::uint32_t { waits, yields, home, gone };

class Crew;
class FiberRings;
struct Party;

// A Carrier lies at the low end of its stack for signals. So a handler finds it by its stack
// pointer. It cannot use the thread pointer, which may be a rank's.
struct Carrier {
    Crew *crew = nullptr;
    FiberRings *rings = nullptr;       // the crew, as handlers use it
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
