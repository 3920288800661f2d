// SPDX-License-Identifier: Apache-2.0
// GreedyLB and GreedyCommLB (Charm++; Acun et al., SC 2014): objects by falling load, each to the
// PE that would then be done first.
#pragma once

#include "balance/strategy.h"

namespace sennit::balance {

class Greedy final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// What two objects on different PEs tell each other costs both PEs time. So an object's candidates
// are the least loaded PE, and the PEs of those it talks to. Where that makes no difference, it
// goes to those it tells most.
class GreedyComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

// Indices of the objects, the heaviest first; of equal ones the first is first.
std::vector<int> by_falling_load(std::span<const Object> objects);

} // namespace sennit::balance
