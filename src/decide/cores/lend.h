// SPDX-License-Identifier: Apache-2.0
// The policy `lend`: a core's owner comes first. If the owner does not want the core, a claimant
// that wants it gets it: first by the highest priority, then by the fewest cores for its share;
// claimants near the core come before others. The owner gets the core back at once. `fair` and
// `moldable` have the same rules, with other owners.
#pragma once

#include "decide/cores/policy.h"

namespace sennit::node {

class Lend : public CorePolicy {
  public:
    bool may_take(const View &view, int core, int claimant) const override;
    int receiver(const View &view, int core) const override;
    int recalls(const View &view, int claimant, std::span<const bool> is_recalled) const override;
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

// The policy `static`: only the owner uses a core, and nobody else even if the owner does not use
// it. A service owns no core. It alone may use what owners leave.
class Static : public CorePolicy {
  public:
    bool may_take(const View &view, int core, int claimant) const override;
    int receiver(const View &view, int core) const override;
    int recalls(const View &view, int claimant, std::span<const bool> is_recalled) const override;
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

// The policy `fair` divides the time by shares, not the cores. A program that has used less than
// its share, though it wanted more, owns more cores until it has caught up. A program that has used
// more owns fewer. Time that a program did not want is not owed to it. Otherwise `fair` is `lend`.
class Fair final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
