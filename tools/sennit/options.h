// SPDX-License-Identifier: Apache-2.0
// `sennit doctor --options`: the environment variables of every room, from their tables.
#pragma once

#include <string>

namespace sennit::tool {

// `form`: text, markdown (a section of docs/user/reference.md) or man (sennit-options(7)). Throws
// Failure for another one.
int print_options(const std::string &form);

} // namespace sennit::tool
