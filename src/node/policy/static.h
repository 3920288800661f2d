// SPDX-License-Identifier: Apache-2.0
// `static`: a core is its owner's, used or not. Only a service, which owns none, may use what its
// owner leaves.
#pragma once

#include "node/policy/policy.h"

namespace sennit::node {

class Static : public Policy {
  public:
    bool may_take(const View &view, int core, int claimant) const override;
    int receiver(const View &view, int core) const override;
    int recalls(const View &view, int claimant, std::span<const bool> is_recalled) const override;
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
