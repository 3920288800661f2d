// SPDX-License-Identifier: Apache-2.0
// A carrier's processor time, for many short questions. The system's clock takes some 0.2 us, which
// is longer than a switch from one fiber to the next. The processor's counter of ticks takes some
// ten nanoseconds, but it also runs while the system gives the processor to another thread. That is
// not for so short a time as kShort. So a short time since the last question is told in ticks, and
// for a longer one the system is asked.
//
// Invariant: at each question to the system, all that was told since the last one is set off
// against what the system says. So errors do not add up, and the time never goes back.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit::virt {

// Used by the carrier's thread alone.
class CarrierClock {
  public:
    static constexpr std::uint64_t kShort = 1 << 16;  // ticks: 20 to 30 us
    static constexpr std::uint64_t kOfRate = 1 << 20; // a rate is the nanoseconds of so many

    // `rate` 0: it is not known yet. system_ns() asks the system.
    template <class System>
    std::int64_t now_ns(std::uint64_t ticks, std::uint64_t rate, System system_ns) {
        const std::uint64_t more = ticks - ticks_;
        ticks_ = ticks;
        if (more < kShort && rate != 0) {
            told_ns_ += static_cast<std::int64_t>(more * rate / kOfRate);
        } else {
            const std::int64_t is = system_ns();
            now_ns_ += std::max(told_ns_, is - was_ns_);
            was_ns_ = is;
            told_ns_ = 0;
        }
        return now_ns_ + told_ns_;
    }

  private:
    std::uint64_t ticks_ = 0;  // at the last question
    std::int64_t was_ns_ = 0;  // what the system has said last
    std::int64_t now_ns_ = 0;  // what was told then
    std::int64_t told_ns_ = 0; // in ticks, since then
};

} // namespace sennit::virt
