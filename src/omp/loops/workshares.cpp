// SPDX-License-Identifier: Apache-2.0
#include "omp/loops/workshares.h"

#include "base/message.h"
#include "omp/env/split.h"
#include "omp/loops/exposed.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace sennit::omp {
namespace {

// Of a loop that not all threads have left, because its region was cancelled.
void abandon(LoopState &state) {
    if (state.setup.load(std::memory_order_relaxed) == LoopState::kReady)
        end_loop(state);
    std::free(state.memory.exchange(nullptr, std::memory_order_relaxed));
}

void abandon(DoacrossShare &share) {
    if (share.setup.load(std::memory_order_relaxed) == DoacrossShare::kReady)
        std::free(share.shared);
}

} // namespace

// Two threads may come at the same time.
SENNIT_NOINLINE Workshares &make_workshares(Team &team) {
    const std::size_t each = team.size > 1 ? static_cast<std::size_t>(team.size) : 0;
    const bool exposes = team.threads && split_adapts();
    const std::size_t history_at =
        sizeof(Workshares) + Workshares::kRing * each * sizeof(StealableRange);
    const std::size_t size = history_at + (exposes ? sizeof(LoopHistory) : 0);
    void *memory = std::aligned_alloc(alignof(Workshares), size + -size % alignof(Workshares));
    if (!memory)
        fatal("no memory for a team's worksharing state (%zu bytes)", size);
    auto *made = new (memory) Workshares;
    auto *range = reinterpret_cast<StealableRange *>(made + 1);
    for (std::uint32_t i = 0; i < Workshares::kRing; ++i) {
        made->ring[i].turn.store(i, std::memory_order_relaxed);
        made->ring[i].ranges = each ? range : nullptr;
        for (std::size_t thread = 0; thread < each; ++thread)
            new (range++) StealableRange;
    }
    for (std::uint32_t i = 0; i < Workshares::kDoacrossRing; ++i)
        made->doacross[i].turn.store(i, std::memory_order_relaxed);
    if (exposes)
        made->loops = new (static_cast<std::byte *>(memory) + history_at) LoopHistory;
    TeamExtension *before = nullptr;
    // release pairs with the acquire of workshares_of.
    if (team.workshares.compare_exchange_strong(before, made, std::memory_order_acq_rel))
        return *made;
    std::free(made);
    return *static_cast<Workshares *>(before);
}

// In the region before, all threads met the same constructs, unless it was cancelled. So thread 0
// knows what was used.
void Workshares::reset(Team &team) {
    const MemberWorkshares &work = team.member(0).work;
    const bool cancelled = team.cancelled.load(std::memory_order_relaxed);
    singles.store(0, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < (cancelled ? kRing : std::min(work.begun, kRing)); ++i) {
        if (cancelled)
            abandon(ring[i]);
        ring[i].turn.store(i, std::memory_order_relaxed);
        ring[i].setup.store(LoopState::kFree, std::memory_order_relaxed);
    }
    const std::uint32_t nests =
        cancelled ? kDoacrossRing : std::min(work.doacross_begun, kDoacrossRing);
    for (std::uint32_t i = 0; i < nests; ++i) {
        abandon(doacross[i]);
        doacross[i].setup.store(DoacrossShare::kFree, std::memory_order_relaxed);
        doacross[i].left.store(0, std::memory_order_relaxed);
        doacross[i].turn.store(i, std::memory_order_relaxed);
    }
}

void Workshares::drop() {
    for (LoopState &state : ring)
        abandon(state);
    for (DoacrossShare &share : doacross)
        abandon(share);
    std::free(this);
}

} // namespace sennit::omp
