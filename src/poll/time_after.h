// SPDX-License-Identifier: Apache-2.0
// Points in time for timers (poll.h).
#pragma once

#include <cstdint>

namespace sennit::poll {

// So long after `now`, or the end of time: programs may give any number.
inline std::uint64_t time_after(std::uint64_t now, std::uint64_t ns) {
    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

} // namespace sennit::poll
