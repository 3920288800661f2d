// SPDX-License-Identifier: Apache-2.0
#include "balance/least.h"

#include <algorithm>

namespace sennit::balance {

LeastLoaded::LeastLoaded(const Problem &problem)
    : problem_(problem), alike_(std::all_of(problem.speeds.begin(), problem.speeds.end(),
                                            [&](double one) { return one == problem.speeds[0]; })),
      loads_(loads_of(problem, {})) {
    for (int pe = 0; pe < problem.pes; ++pe)
        order_.insert(key(pe));
}

int LeastLoaded::put(double work) {
    int best = first();
    if (!alike_)
        for (int pe = 0; pe < problem_.pes; ++pe)
            if (after(pe, work) < after(best, work))
                best = pe;
    put_on(best, work);
    return best;
}

void LeastLoaded::put_on(int pe, double work, double further_s) {
    order_.erase(key(pe));
    loads_[index(pe)] = after(pe, work) + further_s;
    order_.insert(key(pe));
}

} // namespace sennit::balance
