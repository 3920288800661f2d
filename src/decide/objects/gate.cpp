// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/gate.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sennit::balance {
namespace {

constexpr std::size_t kMeasurements = 5;

} // namespace

// Of two, the lower one.
double MoveGate::factor() const {
    std::vector<double> sorted(factors_.begin(), factors_.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 2];
}

Costs MoveGate::costs() const {
    const double now = factor();
    return {guess_.seconds_per_object * now, guess_.seconds_per_byte * now};
}

bool MoveGate::pays(const Forecast &found, double steps) {
    const double gain_of_step_s = found.step_before_s - found.step_after_s;
    const bool pays = gain_of_step_s > 0 && found.gain_s(steps) + forgone_s_ > 0;
    forgone_s_ = pays || gain_of_step_s <= 0 ? 0 : forgone_s_ + gain_of_step_s;
    return pays;
}

void MoveGate::measured(double forecast_s, double took_s) {
    if (forecast_s <= 0 || took_s <= 0)
        return;
    factors_.push_back(took_s / forecast_s * factor());
    if (factors_.size() > kMeasurements)
        factors_.pop_front();
}

} // namespace sennit::balance
