// SPDX-License-Identifier: Apache-2.0
// The process that a launcher starts in place of a rank. It hands all that it has got to the job's
// host on this node, and starts the host if there is none. It passes signals on, and ends as the
// rank does.
#pragma once

#include "loader/rank_request.h"

#include <string>

namespace sennit::loader {

struct StubOptions {
    std::string folder; // where the job meets
    std::uint32_t mappings = 0;
    bool fiber = false; // the rank is to be a rank fiber (src/virt)
    std::string program;
    std::vector<std::string> arguments;
};

// Returns the exit code, or ends by the signal that ended the rank.
int run_stub(const StubOptions &options);

} // namespace sennit::loader
