// SPDX-License-Identifier: Apache-2.0
// PEs by load, the least loaded first: what greedy strategies put objects on.
#pragma once

#include "balance/problem.h"

#include <set>
#include <tuple>
#include <vector>

namespace sennit::balance {

class LeastLoaded {
  public:
    // With what cannot move.
    explicit LeastLoaded(const Problem &problem);

    // The least loaded PE; of equal ones the fastest, then the first.
    int first() const { return std::get<2>(*order_.begin()); }
    double load(int pe) const { return loads_[index(pe)]; }
    // Its load with one more object.
    double after(int pe, double work) const { return load(pe) + work / problem_.speed_of(pe); }
    // An object to the PE that is done with it first; returns the PE. With PEs of different speeds
    // that need not be the least loaded one: then all are compared.
    int put(double work);
    // An object, and seconds that come with it, to this PE.
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
