// SPDX-License-Identifier: Apache-2.0
// The processor time of a rank fiber, on all kernel threads that have run it. A kernel thread's own
// clock tells the time of what it runs, whoever that is: a worker's has other fibers' time in it,
// and a home thread's stands still while its fiber is away.
//
// Only the thread that runs the fiber uses the clock. Whoever asks for the time first starts it,
// and names himself. From then on each thread reads its own clock when the fiber comes and when it
// leaves. When nobody is left who asks, the clock stands still, and a switch costs a comparison.
#pragma once

#include <cstdint>

namespace sennit::virt {

enum class ClockUse : std::uint32_t { account = 1, part = 2, task_time = 4, object = 8 };

class WorkClock {
  public:
    // ---- by the flow, which runs on the thread whose clock `now_ns` is
    std::int64_t start(ClockUse use, std::int64_t now_ns) {
        if (uses_ == 0)
            since_ns_ = now_ns;
        uses_ |= static_cast<std::uint32_t>(use);
        return worked_ns_ + (now_ns - since_ns_);
    }
    // Of two times that are asked for, nobody may take the difference if this was called in
    // between.
    void stop(ClockUse use) { uses_ &= ~static_cast<std::uint32_t>(use); }

    // ---- by the kernel thread that the flow comes to, or that it has left
    bool runs() const { return uses_ != 0; }
    void come(std::int64_t now_ns) { since_ns_ = now_ns; }
    void leave(std::int64_t now_ns) { worked_ns_ += now_ns - since_ns_; }

  private:
    std::uint32_t uses_ = 0;     // 0: it stands still
    std::int64_t worked_ns_ = 0; // until the fiber came
    std::int64_t since_ns_ = 0;  // when it came, by the clock of the kernel thread that it is on
};

} // namespace sennit::virt
