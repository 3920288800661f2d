// SPDX-License-Identifier: Apache-2.0
// What the threads of a team share in worksharing constructs. It is made when the first of them
// comes to one.
//
// With a ring of descriptors, threads may run ahead of each other by up to kRing nowait constructs.
// A descriptor belongs to construct number `turn`. The first thread that comes sets it up. The last
// one that leaves passes it on to construct turn + kRing.
#pragma once

#include "omp/loops/plan.h"
#include "omp/team/team.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

struct LoopState : Loop {
    enum Setup : std::uint32_t { kFree, kBusy, kReady };
    alignas(kCacheLine) std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> setup{kFree};
    std::atomic<std::uint64_t> ordered_from{0}; // first iteration that may go on
    std::atomic<int> parked{0};                 // threads that wait for that
    std::atomic<int> left{0};
    std::atomic<std::uintptr_t> word{0};
    std::atomic<void *> memory{nullptr};
};

struct Doacross; // doacross.cpp

// A loop with ordered(n), likewise.
struct DoacrossShare {
    enum : int { kFree, kBusy, kReady };
    std::atomic<std::uint32_t> turn{0};
    std::atomic<int> setup{kFree};
    std::atomic<int> left{0};
    Doacross *shared = nullptr; // from malloc
};

class LoopHistory; // exposed.h

struct Workshares final : TeamExtension {
    static constexpr std::uint32_t kRing = 8;
    static constexpr std::uint32_t kDoacrossRing = 4;

    void reset(Team &team) override;
    void drop() override;

    std::atomic<std::uint32_t> singles{0}; // `single` constructs that found their thread
    LoopHistory *loops = nullptr;          // of a virtual team whose workers offer parts of loops
    LoopState ring[kRing];
    DoacrossShare doacross[kDoacrossRing];
};

Workshares &make_workshares(Team &team);
inline Workshares &workshares_of(Team &team) {
    TeamExtension *made = team.workshares.load(std::memory_order_acquire);
    return SENNIT_LIKELY(made != nullptr) ? *static_cast<Workshares *>(made)
                                          : make_workshares(team);
}

// Null: the team keeps no history of its loops. Called for a team that has workshares.
inline LoopHistory *history_of(const Team &team) {
    return static_cast<const Workshares *>(team.workshares.load(std::memory_order_relaxed))->loops;
}

} // namespace sennit::omp
