// SPDX-License-Identifier: Apache-2.0
// Can there be rank fibers on this machine?
#pragma once

#include <string>

namespace sennit::virt {

// Why not, for people, in one line; empty: they can be.
std::string impediment();

// The same for a machine whose AT_HWCAP2 is `features`, and whose kernel dispatches system calls to
// the user's code, or does not.
std::string impediment_of(unsigned long features, bool dispatches);

} // namespace sennit::virt
