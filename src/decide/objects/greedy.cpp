// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/greedy.h"

#include "decide/objects/problem.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sennit::balance {
namespace {

constexpr int kNotPlaced = -1;

// A PE that an object may go to.
struct Candidate {
    int pe = 0;
    double links_s = 0; // to what is elsewhere
    double bytes = 0;   // of links to what is there
    double done_s = 0;  // when the PE would be done

    bool operator<(const Candidate &other) const {
        return std::tuple(done_s, -bytes, pe) < std::tuple(other.done_s, -other.bytes, other.pe);
    }
};

} // namespace

std::vector<int> by_falling_load(std::span<const MovableObject> objects) {
    std::vector<int> order(objects.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return objects[index(a)].load > objects[index(b)].load; });
    return order;
}

Assignment Greedy::assign(const Problem &problem) const {
    Assignment pe_of(problem.objects.size());
    LeastLoaded least(problem);
    for (const int object : by_falling_load(problem.objects))
        pe_of[index(object)] = least.put(problem.objects[index(object)].load);
    return pe_of;
}

Assignment GreedyComm::assign(const Problem &problem) const {
    Assignment pe_of(problem.objects.size(), kNotPlaced);
    const LinksByObject neighbours(problem);
    LeastLoaded least(problem);
    for (const int object : by_falling_load(problem.objects)) {
        const double load = problem.objects[index(object)].load;
        const auto told = neighbours.of(object);
        const auto candidate = [&](int pe) {
            Candidate found{.pe = pe};
            for (const LinksByObject::End &end : told) {
                const int there = pe_of[index(end.object)];
                if (there == kNotPlaced)
                    continue;
                found.links_s += end.bytes * problem.seconds_per_byte_of(pe, there);
                found.bytes += there == pe ? end.bytes : 0;
            }
            found.done_s = least.after(pe, load) + found.links_s;
            return found;
        };
        Candidate best = candidate(least.first());
        for (const LinksByObject::End &end : told)
            if (const int pe = pe_of[index(end.object)]; pe != kNotPlaced)
                best = std::min(best, candidate(pe));
        least.put_on(best.pe, load, best.links_s);
        pe_of[index(object)] = best.pe;
    }
    return pe_of;
}

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
