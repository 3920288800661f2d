// SPDX-License-Identifier: Apache-2.0
// The break (brk) is one for all ranks of an address space, but each libc takes what it gets for
// its own, and a library may give back what it never got (UCX tries that). So it is fixed for good:
// it can neither grow nor shrink. Then libc's allocators use mmap.
#pragma once

#include <string>

namespace sennit::loader {

// Of this process, before any rank starts. Empty, or why it cannot be.
std::string fix_program_break();

} // namespace sennit::loader
