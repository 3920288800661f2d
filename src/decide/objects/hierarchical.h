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

// A strategy for work that moves through space, when it is known where it will be (outlook.h).
//
// Objects that the front will be in are dealt: in each part of the period, each node is to have as
// much of it as any other, and so is each PE of a node. An object stays if its node would not have
// more than its share by then. Other objects stay where they are if their node, and their PE, has
// not too much. So few objects move.
//
// If no front is known, it is `spread`: neighbours are apart when a front comes, and nothing moves
// as long as loads stay.
class Follow final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
    bool looks_ahead() const override { return true; }
};

} // namespace sennit::balance
