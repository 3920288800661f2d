// SPDX-License-Identifier: Apache-2.0
// The rank fiber of this process, for the rank's own code.
#pragma once

#include "base/virtual_rank.h"
#include "virt/rank_fiber.h"

#include <unistd.h>

namespace sennit::virt {

// Null: this process is no rank fiber, or its host is of another version. A forked child finds its
// parent's fiber.
inline RankFiber *own_fiber() {
    auto *const fiber = reinterpret_cast<RankFiber *>(getauxval(kRankFiberEntry));
    return fiber && fiber->calls->version == kRankFiberVersion ? fiber : nullptr;
}

// The same, but null in a forked child.
inline RankFiber *main_flow() {
    RankFiber *const own = own_fiber();
    if (!own)
        return nullptr;
    const pid_t process = own->process.load(); // 0: the host has not told it yet
    return process == 0 || process == getpid() ? own : nullptr;
}

} // namespace sennit::virt
