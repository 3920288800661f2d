// SPDX-License-Identifier: Apache-2.0
// How many pieces of a loop are offered to others? The paper's answer (openmp-in-charm, 4.3.2 and
// 4.3.3): as many as there are idle PEs, or as many as were taken by others lately, whichever is
// more. So a loop that nobody helps with is not cut at all.
//
// A loop that becomes balanced is not cut any more after kEnd runs in a row in which nobody took
// anything, whatever the longer history says; then the history begins anew.
//
// Whether others would take some can be known only if some are offered. So a loop that is not cut
// any more is cut once in a while all the same (a probe).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace sennit::balance {

class Exposure {
  public:
    static constexpr int kLength = 16;     // of the history
    static constexpr int kEnd = 8;         // runs of which nothing is taken, and it is not cut
    static constexpr int kProbeEvery = 64; // runs of a loop that is not cut

    // Pieces to be offered by a PE that begins the loop, besides its own one: at most pes - 1.
    int pieces(int idle, int pes) {
        const double lately = mean() * (pes - 1);
        int count = std::max(idle, (static_cast<int>(2 * lately) + 1) / 2);
        if (count > 0)
            quiet_ = 0;
        else if (++quiet_ >= kProbeEvery) {
            quiet_ = 0;
            count = 1;
        }
        return std::min(count, pes - 1);
    }

    // Of so many pieces offered, others took these.
    void record(int offered, int taken) {
        const double ratio =
            offered == 0 ? 0 : static_cast<double>(taken) / static_cast<double>(offered);
        sum_ += ratio - ratios_[next_];
        ratios_[next_] = ratio;
        next_ = (next_ + 1) % ratios_.size();
        if (taken > 0) {
            untaken_ = 0;
        } else if (untaken_ < kEnd) {
            ++untaken_;
            if (untaken_ == kEnd) {
                ratios_ = {};
                sum_ = 0;
            }
        }
    }

    // Of the last runs: the part of what was offered that others took, 0 to 1.
    double mean() const { return std::max(sum_, 0.0) / kLength; }

  private:
    std::array<double, kLength> ratios_{};
    double sum_ = 0;
    std::size_t next_ = 0;
    int quiet_ = 0;
    int untaken_ = 0; // runs in a row
};

} // namespace sennit::balance
