// SPDX-License-Identifier: Apache-2.0
// The processor time of threads: that of other programs on its processor is no work of a thread's.
#pragma once

#include <cstdint>
#include <ctime>

namespace sennit {

inline std::int64_t thread_work_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same of a thread of this process, by the system's number; 0 if it has ended.
inline std::int64_t work_ns_of(int thread_id) {
    // As pthread_getcpuclockid makes it. That wants the pthread_t of a thread that lives.
    constexpr unsigned of_a_thread = 4;
    constexpr unsigned exact = 2;
    const auto clock =
        static_cast<clockid_t>((~static_cast<unsigned>(thread_id) << 3U) | of_a_thread | exact);
    timespec now{};
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace sennit
