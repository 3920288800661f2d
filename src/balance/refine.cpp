// SPDX-License-Identifier: Apache-2.0
#include "balance/refine.h"

#include "balance/greedy.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sennit::balance {
namespace {

// The state while objects move one by one. Each move lowers the load of the PE that has most, and
// leaves the receiver below what that one had: so it ends.
class Moves {
  public:
    explicit Moves(const Problem &problem)
        : problem_(problem), pe_of_(where_they_are(problem)), loads_(loads_of(problem, pe_of_)),
          limit_s_(mean_s(problem) * (1 + kRefineTolerance)), held_(index(problem.pes)) {
        for (const int object : by_falling_load(problem.objects))
            held_[index(pe_of_[index(object)])].push_back(object);
        for (int pe = 0; pe < problem.pes; ++pe)
            order_.insert({loads_[index(pe)], pe});
    }

    Assignment run() {
        while (!order_.empty() && order_.rbegin()->first > limit_s_) {
            const int from = order_.rbegin()->second;
            // Nothing of it fits anywhere: it stays what it is, and others are looked at.
            if (!relieve(from))
                order_.erase({loads_[index(from)], from});
        }
        return std::move(pe_of_);
    }

  private:
    bool relieve(int from) {
        const int to = order_.begin()->second;
        std::vector<int> &objects = held_[index(from)];
        // The largest one with which the receiver stays within the limit; if there is none, the
        // smallest, if that helps at all.
        auto chosen = objects.end();
        for (auto one = objects.begin(); one != objects.end(); ++one) {
            if (work(*one) <= 0)
                break;
            if (with(to, *one) <= limit_s_) {
                chosen = one;
                break;
            }
            if (with(to, *one) < loads_[index(from)])
                chosen = one;
        }
        if (to == from || chosen == objects.end())
            return false;
        const int object = *chosen;
        objects.erase(chosen);
        change(from, -work(object));
        change(to, work(object));
        pe_of_[index(object)] = to;
        std::vector<int> &there = held_[index(to)];
        there.insert(std::lower_bound(there.begin(), there.end(), object,
                                      [this](int a, int b) { return work(a) > work(b); }),
                     object);
        return true;
    }

    double work(int object) const { return problem_.objects[index(object)].load; }
    double with(int pe, int object) const {
        return loads_[index(pe)] + work(object) / problem_.speed_of(pe);
    }
    void change(int pe, double work) {
        order_.erase({loads_[index(pe)], pe});
        loads_[index(pe)] += work / problem_.speed_of(pe);
        order_.insert({loads_[index(pe)], pe});
    }

    const Problem &problem_;
    Assignment pe_of_;
    std::vector<double> loads_;
    double limit_s_;
    std::vector<std::vector<int>> held_;     // of each PE, the heaviest object first
    std::set<std::pair<double, int>> order_; // PEs by load, without those that were given up
};

} // namespace

Assignment Refine::assign(const Problem &problem) const {
    return Moves(problem).run();
}

} // namespace sennit::balance
