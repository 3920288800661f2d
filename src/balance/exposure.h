// SPDX-License-Identifier: Apache-2.0
// How many pieces of a loop does a PE offer to others? The paper's answer (openmp-in-charm, 4.3.2
// and 4.3.3) is the larger of two numbers: that of idle PEs, and that of the pieces that others
// took lately. So a loop with which nobody helps is not cut at all.
//
// If nobody has taken anything in kEnd runs in a row, the loop has become balanced. Then it is cut
// no more, no matter what the longer history says, and the history begins anew.
//
// Only a loop that is cut shows whether others would take pieces. So a loop that is cut no more is
// still cut once in a while (a probe).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace sennit::balance {

class Exposure {
  public:
    static constexpr int kLength = 16;     // runs in the history
    static constexpr int kEnd = 8;         // runs in a row without a taken piece end the cutting
    static constexpr int kProbeEvery = 64; // runs of a loop that is not cut, from probe to probe

    // The number of pieces that a PE which begins the loop is to offer, beside its own one: at most
    // pes - 1.
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

    // Do the runs tell enough? For who can not take back what it has decided.
    bool is_known() const { return runs_ == kLength; }

    // The PE has offered `offered` pieces, and others took `taken` of them.
    void record(int offered, int taken) {
        const double ratio =
            offered == 0 ? 0 : static_cast<double>(taken) / static_cast<double>(offered);
        sum_ += ratio - ratios_[next_];
        ratios_[next_] = ratio;
        next_ = (next_ + 1) % ratios_.size();
        runs_ = std::min(runs_ + 1, kLength);
        if (taken > 0) {
            untaken_ = 0;
        } else if (untaken_ < kEnd) {
            ++untaken_;
            if (untaken_ == kEnd) {
                ratios_ = {};
                sum_ = 0;
                runs_ = kLength;
            }
        }
    }

    // The part of the offered pieces that others took, from 0 to 1: the mean of the last runs.
    double mean() const { return std::max(sum_, 0.0) / kLength; }

  private:
    std::array<double, kLength> ratios_{};
    double sum_ = 0;
    std::size_t next_ = 0;
    int runs_ = 0; // recorded, at most kLength; so many as well when the loop has been balanced
    int quiet_ = 0;
    int untaken_ = 0; // runs in a row of which nothing was taken
};

} // namespace sennit::balance
