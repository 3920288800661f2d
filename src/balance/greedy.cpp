// SPDX-License-Identifier: Apache-2.0
#include "balance/greedy.h"

#include "balance/least.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sennit::balance {
namespace {

// The links of each object, one after the other.
class Neighbours {
  public:
    explicit Neighbours(const Problem &problem) : first_(problem.objects.size() + 1) {
        for (const Link &link : problem.links) {
            ++first_[index(link.a) + 1];
            ++first_[index(link.b) + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        ends_.resize(problem.links.size() * 2);
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (const Link &link : problem.links) {
            ends_[next[index(link.a)]++] = {link.b, link.bytes};
            ends_[next[index(link.b)]++] = {link.a, link.bytes};
        }
    }

    struct End {
        int object;
        double bytes;
    };
    std::span<const End> of(int object) const {
        return std::span(ends_).subspan(first_[index(object)],
                                        first_[index(object) + 1] - first_[index(object)]);
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<End> ends_;
};

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

std::vector<int> by_falling_load(std::span<const Object> objects) {
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
    const Neighbours neighbours(problem);
    LeastLoaded least(problem);
    for (const int object : by_falling_load(problem.objects)) {
        const double load = problem.objects[index(object)].load;
        const auto told = neighbours.of(object);
        const auto candidate = [&](int pe) {
            Candidate found{.pe = pe};
            for (const Neighbours::End &end : told) {
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
        for (const Neighbours::End &end : told)
            if (const int pe = pe_of[index(end.object)]; pe != kNotPlaced)
                best = std::min(best, candidate(pe));
        least.put_on(best.pe, load, best.links_s);
        pe_of[index(object)] = best.pe;
    }
    return pe_of;
}

} // namespace sennit::balance
