// SPDX-License-Identifier: Apache-2.0
// All ranks of an address space share one program break (brk). But each libc takes what it gets for
// its own, and a library may give back memory that it never got (UCX tries that). So the break is
// fixed: it can neither grow nor shrink. Then libc's allocators use mmap.
#pragma once

#include <string>

namespace sennit::loader {

// Fix the break of this process, before any rank starts. Returns why that fails, or nothing.
std::string fix_program_break();

} // namespace sennit::loader
