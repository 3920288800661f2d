// SPDX-License-Identifier: Apache-2.0
// The time that a thread has seen pass that looks again and again. While it is stopped, or the
// machine is, it sees nothing: a look counts for a second at most. So a job that a resource manager
// suspends for hours has not waited for hours.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit {

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
