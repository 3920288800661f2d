// SPDX-License-Identifier: Apache-2.0
// `sennit top --html`: the board as a page that a browser follows, as long as programs use it.
#pragma once

#include "inspect/top_table.h"

#include <functional>

namespace sennit::tool {

// Look again and again, until a signal comes, or nobody uses the board any more: then it says so.
// `look` opens the board anew if it has come up meanwhile. Returns the exit code.
int serve_live_page(const std::function<Snapshot()> &look,
                    const std::function<BoardFacts()> &facts);

} // namespace sennit::tool
