// SPDX-License-Identifier: Apache-2.0
// The system's monotonic clock, for waits and time limits; base/spin.h has a cheaper one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace sennit {

// 0 if there is no such clock.
inline std::int64_t ns_of_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now); // writes nothing if it fails
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t monotonic_ns() {
    return ns_of_clock(CLOCK_MONOTONIC);
}

// The processor time of the calling thread. While another program has the processor, the thread
// does no work.
inline std::int64_t thread_work_ns() {
    return ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
}

// The same of a thread of this process, by the system's number; 0 if it has ended.
inline std::int64_t work_ns_of(int thread_id) {
    // As pthread_getcpuclockid makes it. That wants the pthread_t of a thread that lives.
    constexpr unsigned of_a_thread = 4;
    constexpr unsigned exact = 2;
    return ns_of_clock(
        static_cast<clockid_t>((~static_cast<unsigned>(thread_id) << 3U) | of_a_thread | exact));
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
