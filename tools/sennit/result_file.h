// SPDX-License-Identifier: Apache-2.0
// `--json FILE` of a simulation.
#pragma once

#include <string>

namespace sennit::tool {

// No path: nothing; "-": to stdout. A file that cannot be written ends the command.
void write_result(const std::string &path, const std::string &text);

} // namespace sennit::tool
