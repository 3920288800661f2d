// SPDX-License-Identifier: Apache-2.0
// How long a worker is idle before it takes what others have not offered (balance/exposure.h).
#pragma once

#include "base/spin.h"
#include "sched/processors.h"
#include "sched/worker.h"

#include <algorithm>
#include <cstdint>

namespace sennit::omp {

// The patience in ticks(), for work that began `since_ticks` ago. It is a part of that time, but at
// least about the time that a steal takes, and never so long that anybody would notice.
inline std::uint64_t idle_patience(std::uint64_t since_ticks) {
    constexpr std::uint64_t kPart = 64;
    constexpr std::uint64_t kLeastUs = 2;
    constexpr std::uint64_t kMostUs = 50;
    const std::uint64_t us = sched::ticks_per_us();
    return std::clamp(since_ticks / kPart, kLeastUs * us, kMostUs * us);
}

// Wait a moment. If threads outnumber processors, the caller yields: it may wait for a thread that
// needs the processor.
inline void wait_a_moment() {
    if (sched::crowded())
        sched::Worker::here().yield_processor();
    else
        cpu_relax();
}

} // namespace sennit::omp
