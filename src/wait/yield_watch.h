// SPDX-License-Identifier: Apache-2.0
// Do yields pay? Where threads outnumber processors, a thread that waits can yield or sleep.
//
// Among threads that all wait, a yield takes a microsecond or two for each of them: less than a
// wake-up. But a thread that computes, of this program or another, keeps the processor for a time
// slice of some milliseconds. A sleeper comes back sooner than that. One slice says little: who
// shares a processor loses some in any case. So the mean of the last yields is compared with what a
// wake-up takes. Where it is longer, waiting threads sleep. The next yield is tried after a pause,
// which doubles as long as tries fail.
//
// A yield to a thread that makes what the caller waits for is no loss, however long it takes. Who
// can tell such yields apart notes only what others have had of them. To find that out takes longer
// than a short yield, so it pays only while asks() holds: at first, and where the mean is high.
// Otherwise the length of a yield raises the mean, but begins no pause.
//
// Several threads may note at once; a note that is lost does not matter, and what one of them has
// seen is as good as the other's.
#pragma once

#include "base/compiler.h"
#include "wait/rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::wait {

class YieldWatch {
  public:
    static constexpr std::int64_t kWakeUpUs = kWakeUpNs / kUs;
    static constexpr std::uint64_t kShortestPauseUs = whole_us(kPausesOfYields.shortest_ns);
    static constexpr std::uint64_t kLongestPauseUs = whole_us(kPausesOfYields.longest_ns);

    // A yield that ended at `now` has cost `lost`, both in ticks().
    void note(std::uint64_t lost, std::uint64_t now, std::uint64_t ticks_per_us) {
        const auto per_us = static_cast<std::int64_t>(ticks_per_us);
        const std::int64_t next = mean_with(lost);
        if (SENNIT_LIKELY(next <= kWakeUpUs * per_us)) {
            mean_.store(next, std::memory_order_relaxed);
            return;
        }
        mean_.store(kDoubtUs * per_us, std::memory_order_relaxed); // for after the pause
        begin_pause(now, ticks_per_us);
    }
    // The same of a yield of which only the length is known.
    void note_length(std::uint64_t length, std::uint64_t ticks_per_us) {
        const auto most = kWakeUpUs * static_cast<std::int64_t>(ticks_per_us);
        mean_.store(std::min(mean_with(length), most), std::memory_order_relaxed);
    }
    // Should this yield be measured, to find out whether it lets other threads work?
    bool asks(std::uint64_t ticks_per_us) const {
        const std::int64_t mean = mean_.load(std::memory_order_relaxed);
        return mean == kNoneYet || mean >= kDoubtUs * static_cast<std::int64_t>(ticks_per_us);
    }
    // Does somebody compute on our processors, as far as we know?
    bool seen() const { return until_.load(std::memory_order_relaxed) != 0; }
    bool wanted(std::uint64_t now) const { return now < until_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::int64_t kDoubtUs = kWakeUpUs / 2;
    static constexpr std::int64_t kNoneYet = -1;

    std::int64_t mean_with(std::uint64_t length) const {
        const std::int64_t mean = std::max<std::int64_t>(mean_.load(std::memory_order_relaxed), 0);
        return mean + (static_cast<std::int64_t>(length) - mean) / kYieldsThatCount;
    }

    void begin_pause(std::uint64_t now, std::uint64_t ticks_per_us) {
        const std::uint64_t until = until_.load(std::memory_order_relaxed);
        if (until > now)
            return; // another thread has said so
        const std::uint64_t last = pause_us_.load(std::memory_order_relaxed);
        const bool again = until != 0 && now - until < last * ticks_per_us;
        const std::uint64_t pause = again ? std::min(2 * last, kLongestPauseUs) : kShortestPauseUs;
        pause_us_.store(pause, std::memory_order_relaxed);
        until_.store(now + pause * ticks_per_us, std::memory_order_relaxed);
    }

    std::atomic<std::int64_t> mean_{kNoneYet}; // ticks
    std::atomic<std::uint64_t> until_{0};      // ticks; 0: yields have always paid so far
    std::atomic<std::uint64_t> pause_us_{kShortestPauseUs};
};

} // namespace sennit::wait
