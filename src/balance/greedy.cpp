// SPDX-License-Identifier: Apache-2.0
#include "balance/greedy.h"

#include "balance/least.h"

#include <algorithm>
#include <numeric>

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
        const auto told = neighbours.of(object);
        const auto cost_s = [&](int pe) {
            double bytes = 0;
            for (const Neighbours::End &end : told) {
                const int there = pe_of[index(end.object)];
                if (there != kNotPlaced && problem.node_of(there) != problem.node_of(pe))
                    bytes += end.bytes;
            }
            return bytes * problem.seconds_per_byte;
        };
        const double load = problem.objects[index(object)].load;
        int best = least.first();
        double best_s = least.after(best, load) + cost_s(best);
        for (const Neighbours::End &end : told) {
            const int pe = pe_of[index(end.object)];
            if (pe == kNotPlaced)
                continue;
            const double end_s = least.after(pe, load) + cost_s(pe);
            if (end_s < best_s || (end_s == best_s && pe < best)) {
                best = pe;
                best_s = end_s;
            }
        }
        least.put_on(best, load, cost_s(best));
        pe_of[index(object)] = best;
    }
    return pe_of;
}

} // namespace sennit::balance
