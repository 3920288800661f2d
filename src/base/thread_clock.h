// SPDX-License-Identifier: Apache-2.0
// The processor time of the calling thread: that of other programs on its processor is no work of
// its own.
#pragma once

#include <cstdint>
#include <ctime>

namespace sennit {

inline std::int64_t thread_work_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace sennit
