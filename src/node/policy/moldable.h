// SPDX-License-Identifier: Apache-2.0
// The policy `moldable` gives each program the number of cores with which all together are fastest,
// as measured while they run. A core moves if one program gains more percent of its speed than the
// other one loses. So the policy looks for the largest sum of the logarithms of the programs'
// speeds (by shares). This sum needs no common unit of progress, and leaves no program without
// cores. The policy sets targets by it; below these it is `lend`.
//
// A measurement lasts some calls, as many as it takes to find the same again. After it, each
// program's speed with its present cores is known. If nothing is known of a program's slope, the
// program has a few cores more, or fewer, in the next measurement (a probe). Else the targets are
// those that the curves promise (curve.h), but at most twice and at least half of what was
// measured. Then these are measured. If the targets stay, a probe follows now and then, to see
// whether they still hold. If a program's speed is not what it was with the same cores, its curve
// is forgotten.
#pragma once

#include "node/policy/lend.h"

namespace sennit::node {

class Moldable final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
