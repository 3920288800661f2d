// SPDX-License-Identifier: Apache-2.0
// `fair`: shares of the time, not of the cores. Who has used less than its share, though it wanted
// more, owns more cores until it has caught up; who has used more owns fewer. What nobody wanted is
// nobody's loss. For the rest it is `lend`.
#pragma once

#include "node/policy/lend.h"

namespace sennit::node {

class Fair final : public Lend {
  public:
    bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const override;
};

} // namespace sennit::node
