// SPDX-License-Identifier: Apache-2.0
// What the survey wants to know of OpenMP's regions and locks, which are none of this room's
// business. Handed in when the library is loaded.
#pragma once

#include "watch/memory.h"

#include <cstdint>

namespace sennit {
struct Task;
}

namespace sennit::watch {

// Both look at copies alone: what they are asked about may be gone.
struct Regions {
    // How many threads of a team, the object of a WaitFor::barrier, are still to arrive there?
    std::int64_t (*late_at_barrier)(const Memory &memory, const void *team);
    // Does the first word of a lock, the object of a WaitFor::lock, say that `task` holds it?
    bool (*holds)(const Task *task, std::uint32_t word);
};

} // namespace sennit::watch
