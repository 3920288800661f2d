// SPDX-License-Identifier: Apache-2.0
// `--json FILE` and `--csv FILE` of a simulation.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sennit::tool {

// Names of files and programs may be no UTF-8: such bytes are replaced.
std::string json_text(const nlohmann::ordered_json &document);

// No path: nothing; "-": to stdout. A file that cannot be written ends the command.
void write_result(const std::string &path, const std::string &text);

} // namespace sennit::tool
