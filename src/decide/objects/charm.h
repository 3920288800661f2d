// SPDX-License-Identifier: Apache-2.0
// The strategies of Charm++ (Acun et al., SC 2014): greedy ones, which place all objects anew, and
// refining ones, which move a few.
#pragma once

#include "decide/objects/problem.h"
#include "decide/objects/strategies.h"

#include <set>
#include <tuple>
#include <vector>

namespace sennit::balance {

// GreedyLB and GreedyCommLB. They take the objects by falling load, and put each on the PE that
// would then be done first.
class Greedy final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// Data that two objects on different PEs send to each other costs both PEs time. So the candidates
// for an object are the least loaded PE, and the PEs of the objects with which it has links. The
// object goes to the candidate that would be done first. Of equal ones it takes the one with whose
// objects it exchanges most bytes.
class GreedyComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

// Indices of the objects, the heaviest first. Of equal objects the first comes first.
std::vector<int> by_falling_load(std::span<const MovableObject> objects);

// The PEs by load, the least loaded first. Greedy strategies put objects on them.
class LeastLoaded {
  public:
    // At the beginning, a PE has the load that cannot move.
    explicit LeastLoaded(const Problem &problem);

    // The least loaded PE. Of equal ones it is the fastest, then the first.
    int first() const { return std::get<2>(*order_.begin()); }
    double load(int pe) const { return loads_[index(pe)]; }
    // Its load with one more object.
    double after(int pe, double work) const { return load(pe) + work / problem_.speed_of(pe); }
    // Put an object on the PE that will be done with it first. Returns the PE. If PEs have
    // different speeds, that need not be the least loaded one, so all are compared.
    int put(double work);
    // Put an object, and `further_s` seconds that come with it, on this PE.
    void put_on(int pe, double work, double further_s = 0);

  private:
    std::tuple<double, double, int> key(int pe) const {
        return {load(pe), -problem_.speed_of(pe), pe};
    }

    const Problem &problem_;
    bool alike_; // all PEs have one speed
    std::vector<double> loads_;
    std::set<std::tuple<double, double, int>> order_;
};

// RefineLB. It changes little if work is nearly in balance. As long as a PE has too much,
// its largest object that fits elsewhere moves to the least loaded PE.

// A PE whose time is more than this share above the mean has too much.
inline constexpr double kRefineTolerance = 0.02;

class Refine final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
};

// The same with links. The time of a PE is that of its objects and of their links to other PEs. An
// object moves to the least loaded PE, to the least loaded one of its node, or to a PE that it
// talks to. Of the moves that relieve the PE by at least half of what the best one does, that one
// is made which saves the most time of links.
class RefineComm final : public Strategy {
  public:
    Assignment assign(const Problem &problem) const override;
    bool looks_at_links() const override { return true; }
};

} // namespace sennit::balance
