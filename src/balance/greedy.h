// SPDX-License-Identifier: Apache-2.0
// GreedyLB and GreedyCommLB (Charm++; Acun et al., SC 2014). They take the objects by falling load,
// and put each on the PE that would then be done first.
#pragma once

#include "balance/strategy.h"

namespace sennit::balance {

class Greedy final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// Data that two objects on different PEs send to each other costs both PEs time. So the candidates
// for an object are the least loaded PE, and the PEs of the objects with which it has links. The
// object goes to the candidate that would be done first. Of equal ones it takes the one with whose
// objects it exchanges most bytes.
class GreedyComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

// Indices of the objects, the heaviest first. Of equal objects the first comes first.
std::vector<int> by_falling_load(std::span<const Object> objects);

} // namespace sennit::balance
