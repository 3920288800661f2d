// SPDX-License-Identifier: Apache-2.0
// Can there be rank fibers on this machine?
#pragma once

#include <string>

namespace sennit::virt {

// Why not, for people, in one line; empty: they can be.
std::string impediment();

} // namespace sennit::virt
