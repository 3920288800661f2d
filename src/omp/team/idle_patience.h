// SPDX-License-Identifier: Apache-2.0
// How long a worker is idle before it takes what others have not offered (balance/exposure.h).
#pragma once

#include "sched/processors.h"

#include <algorithm>
#include <cstdint>

namespace sennit::omp {

// In ticks(), of work that began so long ago: a part of that time, but at least about as long as it
// takes to steal, and never as long as anybody would notice.
inline std::uint64_t idle_patience(std::uint64_t since_ticks) {
    constexpr std::uint64_t kPart = 64;
    constexpr std::uint64_t kLeastUs = 2;
    constexpr std::uint64_t kMostUs = 50;
    const std::uint64_t us = sched::ticks_per_us();
    return std::clamp(since_ticks / kPart, kLeastUs * us, kMostUs * us);
}

// Other threads may be who is waited for.
inline void wait_a_moment() {
    if (sched::crowded())
        sched::yield_processor();
    else
        cpu_relax();
}

} // namespace sennit::omp
