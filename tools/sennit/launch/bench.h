// SPDX-License-Identifier: Apache-2.0
// `sennit bench`: becomes the script that measures (bench/suite).
#pragma once

#include "common/installation.h"

#include <string>
#include <vector>

namespace sennit::tool {

// `words`: which bench, and its options. Returns only if they ask for help, and it is printed.
int run_bench(const std::vector<std::string> &words, const Installation &installation);

} // namespace sennit::tool
