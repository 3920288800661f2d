// SPDX-License-Identifier: Apache-2.0
// Threads that sleep in the kernel with a core of the node.
#pragma once

#include "node/board.h"

#include <span>

namespace sennit::node {

// As they were found: the use of a core may be over by now (CoreTable::take_over).
class Sleepers {
  public:
    struct One {
        Hold hold;
        int user;             // slot
        std::int64_t used_ns; // since its use began
    };
    // Among the users of `cores` for kKeptNs at least. No more than kLooks threads, each of which
    // costs some 5 us: from the core `from` on, which goes to the next one.
    Sleepers(Board &board, const Cores &cores, std::int64_t now, std::atomic<int> &from);
    std::span<const One> all() const { return {found_, static_cast<std::size_t>(count_)}; }

  private:
    static constexpr int kLooks = 8;
    One found_[kLooks];
    int count_ = 0;
};

} // namespace sennit::node
