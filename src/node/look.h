// SPDX-License-Identifier: Apache-2.0
// The board as policies see it, and the decisions for the whole board that follow from a policy.
#pragma once

#include "node/board.h"

#include <span>

namespace sennit::node {

// How long cores are kept for processes that have asked for them (Share::ask): longer than a thread
// takes to wake up.
constexpr std::int64_t kAskedNs = 10'000'000;

// The processes that take part, and the cores.
struct Participants {
    Claimant claimants[kMostSlots];
    int slots[kMostSlots]; // of the claimants
    std::int16_t claimant_of[kMostSlots];
    Core cores[kMostCores];
    bool recalled[kMostCores];
    int count = 0;
    int cores_count = 0;
    Board *board = nullptr;

    void read(Board &of);
    int find(int slot) const { return slot == kNobody ? kNobody : claimant_of[slot]; }
    std::span<const bool> are_recalled() const {
        return {recalled, static_cast<std::size_t>(cores_count)};
    }
    // The view for a question of `asker`: at least one of its threads wants a core.
    View view(int asker);
    View view() const;
};

// The members as they are now, for questions to the policy. A process has one Look at a time,
// because its arrays are large.
class Look {
  public:
    explicit Look(Board &board);
    ~Look();
    Look(const Look &) = delete;
    Look &operator=(const Look &) = delete;
    Participants *operator->() const;
    static void after_fork_in_child();
};

const CorePolicy &policy_on(Board &board);

// The core is free: tell one of the processes that want it.
void tell_of_free_core(Board &board, const CorePolicy &policy, int core);

// Divide the cores anew among the processes that take part: one has joined, left or died.
void divide_cores(Board &board);
// Let the policy judge what was measured. This is done every kRethinkNs, by one process at a time.
void rethink_cores(Board &board);

} // namespace sennit::node
