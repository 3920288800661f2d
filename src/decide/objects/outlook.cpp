// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/outlook.h"

#include "decide/objects/moving_front.h"

#include <algorithm>
#include <cmath>

namespace sennit::balance {
namespace {

// The error of another guess than `as before` is at most so much of that one's.
constexpr double kBetter = 0.7;

double error(std::span<const double> guessed, std::span<const double> loads) {
    double sum = 0;
    for (std::size_t i = 0; i < loads.size(); ++i)
        sum += std::abs(guessed[i] - loads[i]);
    return sum;
}

std::vector<double> trend(Periods periods) {
    std::vector<double> loads;
    loads.reserve(periods[0].size());
    for (std::size_t i = 0; i < periods[0].size(); ++i)
        loads.push_back(std::max(2 * periods[0][i] - periods[1][i], 0.0));
    return loads;
}

// What objects cost without a front, and what the front adds.
std::vector<double> with(std::span<const Passage> passages, Periods periods) {
    std::vector<double> loads = least_loads(periods);
    for (const Passage &passage : passages)
        loads[index(passage.object)] += passage.load;
    return loads;
}

LoadOutlook::Guess best_guess(const Problem &problem, Periods periods) {
    using Guess = LoadOutlook::Guess;
    if (periods.size() < 3)
        return Guess::as_before;
    const Periods before = periods.subspan(1);
    const std::span<const double> loads = periods[0];
    Guess best = Guess::as_before;
    double least = kBetter * error(before[0], loads);
    if (const double found = error(trend(before), loads); found < least) {
        least = found;
        best = Guess::trend;
    }
    const std::vector<Passage> passages = coming_passages(problem, before);
    if (!passages.empty() && error(with(passages, before), loads) < least)
        best = Guess::front;
    return best;
}

} // namespace

void History::note(std::span<const MovableObject> objects) {
    std::vector<double> loads;
    loads.reserve(objects.size());
    for (const MovableObject &object : objects)
        loads.push_back(object.load);
    loads_.push_front(std::move(loads));
    if (loads_.size() > kPeriods)
        loads_.pop_back();
}

LoadOutlook::LoadOutlook(const Problem &problem, const History &history)
    : loads_(history.loads(0).begin(), history.loads(0).end()) {
    std::vector<std::span<const double>> periods;
    periods.reserve(history.periods());
    for (std::size_t ago = 0; ago < history.periods(); ++ago)
        periods.push_back(history.loads(ago));
    guess_ = best_guess(problem, periods);
    if (guess_ == Guess::front) {
        passages_ = coming_passages(problem, periods);
        loads_ = with(passages_, periods);
    } else if (guess_ == Guess::trend) {
        loads_ = trend(periods);
    }
}

} // namespace sennit::balance
