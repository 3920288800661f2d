// SPDX-License-Identifier: Apache-2.0
// `sennit top`: who uses which core of a pool, or of the user's own board.
#pragma once

#include <string>

namespace sennit::tool {

struct TopRequest {
    std::string pool; // empty: programs in no pool
    bool once = false, json = false;
};

int run_top(const TopRequest &request);

} // namespace sennit::tool
