// SPDX-License-Identifier: Apache-2.0
// `moldable`: each program has the cores with which all together get on best, as measured while
// they run. A core moves if one program gains more percent of its speed by it than the other one
// loses; so the sum of the logarithms of their speeds (by shares) is sought, which needs no common
// unit of progress, and in which nobody is left with nothing. Below these targets it is `lend`.
//
// A measurement lasts some calls, as many as it takes to find the same again. After it every
// program's speed with its present cores is known.
// Programs of which no slope is known have a few cores more, or fewer, for the next one (a probe).
// Else the targets are those that the curves promise (curve.h), at most twice or half of what was
// measured; then these are measured. When targets stay, a probe follows now and then: is it still
// so? If a program's speed is not what it was with the same cores, its curve is forgotten.
#pragma once

#include "node/policy/lend.h"

namespace sennit::node {

class Moldable final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
