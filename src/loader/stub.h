// SPDX-License-Identifier: Apache-2.0
// What a launcher starts in place of a rank. It hands all that it has got to the job's host on this
// node, which it starts if there is none; passes signals on; and ends as the rank does.
#pragma once

#include "loader/rank_request.h"

#include <string>

namespace sennit::loader {

struct StubOptions {
    std::string folder; // where the job meets
    std::uint32_t mappings = 0;
    bool fiber = false; // the rank is to be one (src/virt)
    std::string program;
    std::vector<std::string> arguments;
};

// Returns the exit code, or ends by the signal that ended the rank.
int run_stub(const StubOptions &options);

} // namespace sennit::loader
