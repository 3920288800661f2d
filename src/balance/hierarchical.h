// SPDX-License-Identifier: Apache-2.0
// Nodes first, then the PEs of each node.
#pragma once

#include "balance/strategy.h"

namespace sennit::balance {

// Nodes are balanced by refining, as if each were one PE as fast as all of its PEs: few objects
// cross the network. Within a node objects cost nothing to move: there it is greedy.
class Hierarchical final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// For work that moves through space, like a wave: what is near each other will be heavy at the same
// time, so neighbours go to different nodes. Loads of the past say little there. It looks at the
// positions first, and refines what the loads say. Without positions it is `hierarchical`.
class Spread final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

} // namespace sennit::balance
