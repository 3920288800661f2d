// SPDX-License-Identifier: Apache-2.0
// A strategy for work that moves through space, when it is known where it will be (outlook.h).
//
// Objects that the front will be in are dealt: in each part of the period, each node is to have as
// much of it as any other, and so is each PE of a node. An object stays if its node would not have
// more than its share by then. Other objects stay where they are if their node, and their PE, has
// not too much. So few objects move.
//
// If no front is known, it is `spread` (hierarchical.h): neighbours are apart when a front comes,
// and nothing moves as long as loads stay.
#pragma once

#include "decide/objects/strategies.h"

namespace sennit::balance {

class Follow final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
    bool looks_ahead() const override { return true; }
};

} // namespace sennit::balance
