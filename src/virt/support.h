// SPDX-License-Identifier: Apache-2.0
// Can there be rank fibers on this machine?
#pragma once

#include <string>

namespace sennit::virt {

// The reason why there can be none, as a line for people. Empty: there can be rank fibers.
std::string impediment();

// The same for a machine whose AT_HWCAP2 is `features`. `dispatches`: its kernel can dispatch
// system calls to the user's code.
std::string impediment_of(unsigned long features, bool dispatches);

} // namespace sennit::virt
