// SPDX-License-Identifier: Apache-2.0
// The PEs by load, the least loaded first. Greedy strategies put objects on them.
#pragma once

#include "balance/problem.h"

#include <set>
#include <tuple>
#include <vector>

namespace sennit::balance {

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
