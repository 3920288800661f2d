// SPDX-License-Identifier: Apache-2.0
// What will objects cost in the coming period? Strategies take loads of the past for loads of the
// future (the paper's principle of persistence: openmp-in-charm, section 3). That is wrong for work
// that moves through space. So there are three guesses:
//
// - *as before*: each object costs what it did in the last period;
// - *trend*: each object's load goes on to rise or fall as it did;
// - *front*: something passes over the objects, and those that it is in cost more (below).
//
// The guess is taken that would have told the last period best from those before it. That needs
// three periods. And another guess than the first has to be clearly better. So where loads stay, or
// change without a rule, nothing differs from a strategy that looks at the last period only.
#pragma once

#include "decide/objects/problem.h"

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace sennit::balance {

// A front that passes over objects: which ones will it be in during the coming period, and when?
//
// Objects that it is in cost more for a while, then as much as before. So what an object costs
// beyond its least load tells when the front was there. Objects in which it was in earlier periods
// are behind it. When it reaches another one follows from how far that one is from these (Huygens),
// and from how far the front came in the last period.
//
// Distances are those of positions. If there are none, links are counted.

// The loads of all objects, for each period, the last one first.
using Periods = std::span<const std::span<const double>>;

// Empty: no front is seen. Two periods are needed to see one.
std::vector<Passage> coming_passages(const Problem &problem, Periods periods);

// The least load of each object.
std::vector<double> least_loads(Periods periods);

// The loads of all objects in the last periods.
class History {
  public:
    static constexpr std::size_t kPeriods = 4;

    void note(std::span<const MovableObject> objects);
    std::size_t periods() const { return loads_.size(); }
    // The last period is 0 periods ago.
    std::span<const double> loads(std::size_t ago) const { return loads_[ago]; }

  private:
    std::deque<std::vector<double>> loads_;
};

class LoadOutlook {
  public:
    enum class Guess { as_before, trend, front };

    // Of the problem, only positions and links are looked at. There is a period at least.
    LoadOutlook(const Problem &problem, const History &history);

    Guess guess() const { return guess_; }
    // Of each object: the mean of the coming period.
    std::span<const double> loads() const { return loads_; }
    // Where the front will be. Empty: no front is guessed, or it is gone.
    std::span<const Passage> passages() const { return passages_; }

  private:
    Guess guess_ = Guess::as_before;
    std::vector<double> loads_;
    std::vector<Passage> passages_;
};

} // namespace sennit::balance
