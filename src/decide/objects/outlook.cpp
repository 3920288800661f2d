// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/outlook.h"

#include "decide/objects/problem.h"

#include <algorithm>
#include <cmath>

namespace sennit::balance {
namespace {

// The front is in an object that has so much, in a period, of what a whole passage costs.
constexpr double kIsIn = 0.25;
// If so little of a passage is left, it is over.
constexpr double kIsOver = 0.02;

class Front {
  public:
    Front(const Problem &problem, Periods periods)
        : problem_(problem), periods_(periods), least_(least_loads(periods)), was_(least_.size()),
          extra_(least_.size()) {
        double sum = 0;
        double squares = 0;
        for (std::size_t i = 0; i < extra_.size(); ++i) {
            for (const auto &loads : periods)
                extra_[i] += loads[i] - least_[i];
            sum += extra_[i];
            squares += extra_[i] * extra_[i];
        }
        // The mean by load: the many objects with hardly any do not count.
        passage_ = sum > 0 ? squares / sum : 0;
    }

    std::vector<Passage> coming() {
        std::vector<Passage> passages;
        if (passage_ <= 0 || !find_way())
            return passages;
        for (std::size_t i = 0; i < extra_.size(); ++i) {
            const double left = passage_ - extra_[i];
            if (left > kIsOver * passage_ && is_ahead(i))
                add(passages, static_cast<int>(i), left);
        }
        return passages;
    }

  private:
    double extra(std::size_t object, std::size_t ago) const {
        return periods_[ago][object] - least_[object];
    }
    bool is_in(std::size_t object, std::size_t ago) const {
        return extra(object, ago) > kIsIn * passage_;
    }

    // How far the front came in the last period. False: none is seen.
    bool find_way() {
        std::vector<int> before;
        std::vector<int> now;
        for (std::size_t i = 0; i < was_.size(); ++i) {
            for (std::size_t ago = 1; ago < periods_.size(); ++ago)
                was_[i] = was_[i] || is_in(i, ago);
            if (was_[i])
                before.push_back(static_cast<int>(i));
            else if (is_in(i, 0))
                now.push_back(static_cast<int>(i));
        }
        if (before.empty() || now.empty())
            return false;
        from_before_ = distances_from(problem_, before);
        from_now_ = distances_from(problem_, now);
        double distances = 0;
        double loads = 0;
        spacing_ = kOutOfReach;
        for (const int object : now) {
            const double distance = from_before_[index(object)];
            if (distance == kOutOfReach)
                continue;
            const double load = extra(index(object), 0);
            distances += load * distance;
            loads += load;
            spacing_ = std::min(spacing_, distance);
        }
        if (loads <= 0 || spacing_ <= 0)
            return false;
        // They lie about evenly along the way. The first is a spacing from where it was before.
        way_ = std::max(2 * distances / loads - spacing_, spacing_ / 4);
        return true;
    }

    // The front was there, or where it was long ago is nearer than where it is now: it has passed.
    bool is_ahead(std::size_t object) const {
        return !was_[object] && from_before_[object] != kOutOfReach &&
               from_now_[object] <= from_before_[object];
    }

    // It takes as long to pass an object as from one object to the next. `left`: what it still
    // costs. The unit of time is a period.
    void add(std::vector<Passage> &passages, int object, double left) const {
        const double lasts = spacing_ / way_;
        const double middle = (from_before_[index(object)] - spacing_ / 4) / way_ - 1;
        const double begin = std::max(middle - lasts / 2, 0.0);
        const double end = std::max(middle + lasts / 2, begin + lasts / 4);
        if (begin >= 1)
            return;
        Passage passage{object, 0, {}};
        constexpr double kParts = Passage::kParts;
        double first = 0;
        for (float &part : passage.course) {
            const double overlap = std::min(end, first + 1 / kParts) - std::max(begin, first);
            first += 1 / kParts;
            if (overlap <= 0)
                continue;
            const double load = left * overlap / (end - begin);
            passage.load += load;
            part = static_cast<float>(load * kParts);
        }
        passages.push_back(passage);
    }

    const Problem &problem_;
    const Periods periods_;
    const std::vector<double> least_;
    std::vector<char> was_; // the front was in it before the last period
    std::vector<double> extra_;
    double passage_ = 0;              // what one costs
    std::vector<double> from_before_; // distances from where the front was before the last period
    std::vector<double> from_now_;    // and from where it came to in the last one
    double spacing_ = 0;              // from one object to the next
    double way_ = 0;                  // that the front came in the last period
};

} // namespace

std::vector<Passage> coming_passages(const Problem &problem, Periods periods) {
    if (periods.size() < 2 || (problem.positions.empty() && problem.links.empty()))
        return {};
    return Front(problem, periods).coming();
}

std::vector<double> least_loads(Periods periods) {
    std::vector<double> least(periods[0].begin(), periods[0].end());
    for (const auto &loads : periods.subspan(1))
        for (std::size_t i = 0; i < least.size(); ++i)
            least[i] = std::min(least[i], loads[i]);
    return least;
}

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
