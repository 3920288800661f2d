// SPDX-License-Identifier: Apache-2.0
// The system's monotonic clock, for waits and time limits; base/spin.h has a cheaper one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace sennit {

inline std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The processor time of threads. While another program has a thread's processor, the thread does no
// work.

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

// The time that a thread has seen pass that looks again and again. While it is stopped, or the
// machine is, it sees nothing: a look counts for a second at most. So a job that a resource manager
// suspends for hours has not waited for hours.

class SeenTime {
  public:
    explicit SeenTime(std::int64_t now_ns) : last_ns_(now_ns) {}
    // Returns the sum, in nanoseconds.
    std::int64_t look(std::int64_t now_ns) {
        constexpr std::int64_t most_ns = 1'000'000'000;
        sum_ns_ += std::min(now_ns - last_ns_, most_ns);
        last_ns_ = now_ns;
        return sum_ns_;
    }

  private:
    std::int64_t last_ns_;
    std::int64_t sum_ns_ = 0;
};

} // namespace sennit
