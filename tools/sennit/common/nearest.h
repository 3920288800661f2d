// SPDX-License-Identifier: Apache-2.0
// A misspelt word, and the one that was meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

// " (do you mean 'doctor'?)" for "dcotor", if `known` has that; empty if none of it is near. The
// first `common` letters say nothing: all words have them.
std::string meant_instead(std::string_view typed, const std::vector<std::string> &known,
                          std::size_t common = 0);

} // namespace sennit::tool
