// SPDX-License-Identifier: Apache-2.0
// Sets of cores as people write them: "0-3,8".
#pragma once

#include "node/core_table.h"

#include <string>

namespace sennit::tool {

// Throws Failure, with `option`'s name in it, for what is no such list.
node::Cores parse_cores(const char *option, const std::string &text);
std::string core_list(const node::Cores &cores);

// Those of `cores` that are not among `allowed`.
node::Cores without(const node::Cores &cores, const node::Cores &allowed);
node::Cores both(const node::Cores &cores, const node::Cores &others);
// The calling process, and what it becomes or starts, runs on these only. False: not possible.
bool run_on(const node::Cores &cores);

} // namespace sennit::tool
