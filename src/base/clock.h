// SPDX-License-Identifier: Apache-2.0
// The system's monotonic clock, for waits and time limits; base/spin.h has a cheaper one.
#pragma once

#include <cstdint>
#include <ctime>

namespace sennit {

inline std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace sennit
