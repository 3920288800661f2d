// SPDX-License-Identifier: Apache-2.0
// The environment variables of every room, from their tables: `sennit doctor --options`, and names
// like theirs.
#pragma once

#include <string>

namespace sennit::tool {

// `form`: text, markdown (a section of docs/user/reference.md) or man (sennit-options(7)). Throws
// Failure for another one.
int print_options(const std::string &form);

// A line on stderr for each variable of the environment that looks like one of ours, misspelt. Of
// the ranks of a node, the first one says it.
void warn_of_misspelt_variables();

} // namespace sennit::tool
