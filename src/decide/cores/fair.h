// SPDX-License-Identifier: Apache-2.0
// The policy `fair` divides the time by shares, not the cores. A program that has used less than
// its share, though it wanted more, owns more cores until it has caught up. A program that has used
// more owns fewer. Time that a program did not want is not owed to it. Otherwise `fair` is `lend`.
#pragma once

#include "decide/cores/lend.h"

namespace sennit::node {

class Fair final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
