// SPDX-License-Identifier: Apache-2.0
// Strategies that balance the nodes first, and then the PEs of each node.
#pragma once

#include "decide/objects/strategies.h"

namespace sennit::balance {

// It balances nodes by refining, as if each node were one PE that is as fast as all of the node's
// PEs. So few objects cross the network. Within a node it is greedy if there objects cost nothing
// to move. Else it refines there, too.
class Hierarchical final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// The same with links: nodes are refined with them (RefineComm), and within a node an object
// prefers the PE of those that it talks to (GreedyComm, or RefineComm).
class HierarchicalComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

// For work that moves through space, like a wave. Objects that are near each other will be heavy at
// the same time, so neighbours go to different nodes. Loads of the past say little about such work.
// So it first decides by the positions, and then refines by the loads. Without positions it does
// what `hierarchical` does.
class Spread final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

} // namespace sennit::balance
