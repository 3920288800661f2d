// SPDX-License-Identifier: Apache-2.0
// How far a simulation is, and how long it will take.
#pragma once

#include "sim/simulation.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace sennit::tool {

// On stderr, where a person looks.
class ProgressBar {
  public:
    explicit ProgressBar(bool wanted) : wanted_(wanted) {}
    ~ProgressBar() { clear(); }

    void begin(std::string what) {
        what_ = std::move(what);
        began_ = Clock::now();
        drawn_ = {};
    }
    void show(const sim::Progress &progress) {
        const auto now = Clock::now();
        if (!wanted_ || now - drawn_ < std::chrono::milliseconds(200))
            return;
        drawn_ = now;
        const double spent = std::chrono::duration<double>(now - began_).count();
        const double share = progress.total ? static_cast<double>(progress.done) /
                                                  static_cast<double>(progress.total)
                                            : 0;
        std::string line = fmt::format("{}  {:.1f} M tasks  {:.3f} s simulated", what_,
                                       static_cast<double>(progress.done) * 1e-6,
                                       static_cast<double>(progress.time) * 1e-9);
        if (share > 0) {
            const int full = static_cast<int>(share * 30);
            line = fmt::format("[{:#<{}}{:.<{}}] {:3.0f}%  ETA {:.0f} s  {}", "", full, "",
                               30 - full, share * 100, spent * (1 / share - 1), line);
        }
        fmt::print(stderr, "\r\x1b[K{}", line);
        shown_ = true;
    }
    void clear() {
        if (shown_)
            std::fputs("\r\x1b[K", stderr); // throws nothing: the destructor's
        shown_ = false;
    }

  private:
    using Clock = std::chrono::steady_clock;
    bool wanted_, shown_ = false;
    std::string what_;
    Clock::time_point began_, drawn_;
};

} // namespace sennit::tool
