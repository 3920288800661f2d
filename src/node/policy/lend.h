// SPDX-License-Identifier: Apache-2.0
// `lend`: a core is its owner's first. While its owner does not want it, it goes to who does: the
// highest priority, then who has the fewest for its share, those near it before others. The owner
// gets it back at once. So `fair` and `moldable` are the same rules with other owners.
#pragma once

#include "node/policy/policy.h"

namespace sennit::node {

class Lend : public Policy {
  public:
    bool may_take(const View &view, int core, int claimant) const override;
    int receiver(const View &view, int core) const override;
    int recalls(const View &view, int claimant, std::span<const bool> is_recalled) const override;
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
