// SPDX-License-Identifier: Apache-2.0
// The policy `static`: only the owner uses a core, and nobody else even if the owner does not use
// it. A service owns no core. It alone may use what owners leave.
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
