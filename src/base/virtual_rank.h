// SPDX-License-Identifier: Apache-2.0
// Is this process a virtual rank (src/ranks/loader): one of several programs in one address space?
// The loader says so in the auxiliary vector, which no child of the rank inherits.
#pragma once

#include <sys/auxv.h>

namespace sennit {

// The address of what the ranks export (ranks/exported/registry.h). Of no meaning to anybody else:
// the kernel's types are small numbers.
inline constexpr unsigned long kVirtualRankEntry = 0x53656e6e;

// As well, for the host's address of a rank fiber (ranks/fibers/rank_fiber.h).
inline constexpr unsigned long kRankFiberEntry = 0x53656e66;

// May the rank's main flow run on other kernel threads than its own?
inline bool is_rank_fiber() {
    return getauxval(kRankFiberEntry) != 0;
}

inline bool is_virtual_rank() {
    return getauxval(kVirtualRankEntry) != 0;
}

// The program's own file. /proc/self/exe of a virtual rank is the loader.
inline const char *program_file() {
    return is_virtual_rank() ? reinterpret_cast<const char *>(getauxval(AT_EXECFN))
                             : "/proc/self/exe";
}

} // namespace sennit
