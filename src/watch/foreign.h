// SPDX-License-Identifier: Apache-2.0
// Threads that Sennit knows nothing of: the program's own, and those of its libraries. Such a
// thread may compute for hours and then send a message or fulfil an event.
#pragma once

#include <cstdint>

namespace sennit::watch {

class Foreign {
  public:
    // Does one of them run, or wait for a processor, or have they used a good part of the time
    // since the last look?
    bool at_work(std::uint64_t now_ns, std::uint64_t last_ns);
    // At that look: did one of them sleep in a call that may end by itself, such as a read?
    bool naps() const { return naps_; }
    // A line about those that sleep, "" when there are none.
    const char *note();

  private:
    std::uint64_t used_ = 0; // processor time, in clock ticks
    int asleep_ = 0;
    bool naps_ = false;
    char note_[160] = "";
};

} // namespace sennit::watch
