// SPDX-License-Identifier: Apache-2.0
// Do yields pay? Where threads outnumber processors, a thread that waits can yield or sleep.
//
// Among threads that all wait, a yield takes a microsecond or two for each of them: less than a
// wake-up. But a thread that computes, of this program or another, keeps the processor for a time
// slice of some milliseconds. A sleeper comes back sooner than that. So after a yield that took
// long, waiting threads sleep. The next yield is tried after a pause, which doubles as long as
// tries fail.
//
// Several threads may note at once; what one of them has seen is as good as the other's.
#pragma once

#include "base/compiler.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit {

class YieldWatch {
  public:
    static constexpr std::uint64_t kHandOverUs = 250; // a yield that takes longer is a time slice
    static constexpr std::uint64_t kShortestPauseUs = 10'000;
    static constexpr std::uint64_t kLongestPauseUs = 640'000;

    // A yield lasted from `before` to `now`, in ticks().
    void note(std::uint64_t before, std::uint64_t now, std::uint64_t ticks_per_us) {
        if (SENNIT_LIKELY(now - before < kHandOverUs * ticks_per_us))
            return;
        const std::uint64_t until = until_.load(std::memory_order_relaxed);
        if (until > now)
            return; // another thread has said so
        const std::uint64_t last = pause_us_.load(std::memory_order_relaxed);
        const bool again = until != 0 && now - until < last * ticks_per_us;
        const std::uint64_t pause = again ? std::min(2 * last, kLongestPauseUs) : kShortestPauseUs;
        pause_us_.store(pause, std::memory_order_relaxed);
        until_.store(now + pause * ticks_per_us, std::memory_order_relaxed);
    }
    bool seen() const { return until_.load(std::memory_order_relaxed) != 0; }
    // Does somebody compute on our processors, as far as we know?
    bool wanted(std::uint64_t now) const { return now < until_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> until_{0}; // ticks; 0: no yield has taken long yet
    std::atomic<std::uint64_t> pause_us_{kShortestPauseUs};
};

} // namespace sennit
