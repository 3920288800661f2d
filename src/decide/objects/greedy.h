// SPDX-License-Identifier: Apache-2.0
// GreedyLB and GreedyCommLB (Charm++; Acun et al., SC 2014). They take the objects by falling load,
// and put each on the PE that would then be done first.
#pragma once

#include "decide/objects/problem.h"
#include "decide/objects/strategies.h"

#include <set>
#include <tuple>
#include <vector>

namespace sennit::balance {

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

} // namespace sennit::balance
