// SPDX-License-Identifier: Apache-2.0
// Threads that sleep in the kernel with a core of the node.
#pragma once

#include "node/board.h"

#include <span>

namespace sennit::node {

// The threads as they were found. The use of a core may be over by now (CoreTable::take_over).
class Sleepers {
  public:
    struct One {
        Hold hold;
        int user;             // slot
        std::int64_t used_ns; // since its use began
    };
    // Look for sleepers among the threads that have used one of `cores` for at least kKeptNs. A
    // look at one thread costs some 5 us, so it looks at no more than kLooks of them. It begins at
    // the core `from`, and writes there where the next call is to begin.
    Sleepers(Board &board, const Cores &cores, std::int64_t now, std::atomic<int> &from);
    std::span<const One> all() const { return {found_, static_cast<std::size_t>(count_)}; }

  private:
    static constexpr int kLooks = 8;
    One found_[kLooks];
    int count_ = 0;
};

} // namespace sennit::node
