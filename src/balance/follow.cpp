// SPDX-License-Identifier: Apache-2.0
#include "balance/follow.h"

#include "balance/greedy.h"
#include "balance/refine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sennit::balance {
namespace {

constexpr int kNowhere = -1;
// What a place has at all counts so much, what it has at the time of a passage 1. Between places
// that have nothing by then it decides.
constexpr double kOfAll = 0.01;

// Indices of nodes, or of PEs.
struct Range {
    std::size_t first;
    std::size_t end;
};

// PEs, or nodes, with what they have so far.
class Places {
  public:
    Places(std::vector<double> fixed_s, std::vector<double> speeds)
        : loads_s_(std::move(fixed_s)), speeds_(std::move(speeds)), courses_(loads_s_.size()) {}

    double after(std::size_t place, double work) const {
        return loads_s_[place] + work / speeds_[place];
    }
    void put(std::size_t place, double work) { loads_s_[place] = after(place, work); }
    void put(std::size_t place, const Passage &passage) {
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            courses_[place][part] += passage.course[part];
    }
    std::size_t least(double work, Range range) const {
        return best(range, [&](std::size_t place) { return after(place, work); });
    }
    std::size_t least(const Passage &passage, Range range) const {
        return best(range, [&](std::size_t place) { return growth(place, passage); });
    }

  private:
    // Of the sum of squares of the place's times in all parts. So what counts is what it has at the
    // time of the passage, and a little what it has at all.
    double growth(std::size_t place, const Passage &passage) const {
        double sum = 0;
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            sum += passage.course[part] * (courses_[place][part] + passage.course[part] / 2);
        sum /= static_cast<double>(Passage::kParts);
        sum += kOfAll * passage.load * loads_s_[place] * speeds_[place];
        return sum / (speeds_[place] * speeds_[place]);
    }
    template <class Key>
    static std::size_t best(Range range, Key key) {
        std::size_t best = range.first;
        double least = key(best);
        for (std::size_t place = range.first + 1; place < range.end; ++place)
            if (const double found = key(place); found < least) {
                least = found;
                best = place;
            }
        return best;
    }

    std::vector<double> loads_s_;
    std::vector<double> speeds_;
    std::vector<Passage::Course> courses_;
};

class Dealing {
  public:
    explicit Dealing(const Problem &problem)
        : problem_(problem), nodes_(node_loads_of(problem, {}), speeds_of_nodes(problem)),
          pes_(loads_of(problem, {}), speeds_of_pes(problem)),
          pe_of_(problem.objects.size(), kNowhere) {}

    Assignment run() {
        deal_passages();
        deal_others(keep_others());
        return std::move(pe_of_);
    }

  private:
    static std::vector<double> speeds_of_pes(const Problem &problem) {
        std::vector<double> speeds;
        for (int pe = 0; pe < problem.pes; ++pe)
            speeds.push_back(problem.speed_of(pe));
        return speeds;
    }
    static std::vector<double> speeds_of_nodes(const Problem &problem) {
        std::vector<double> speeds(index(problem.nodes()));
        for (int pe = 0; pe < problem.pes; ++pe)
            speeds[index(problem.node_of(pe))] += problem.speed_of(pe);
        return speeds;
    }

    double work(int object) const { return problem_.objects[index(object)].load; }
    Range all_nodes() const { return {0, index(problem_.nodes())}; }
    Range pes_of(std::size_t node) const {
        const std::size_t first = node * index(problem_.pes_of_node);
        return {first, std::min(first + index(problem_.pes_of_node), index(problem_.pes))};
    }
    void put(int object, std::size_t node, std::size_t pe) {
        nodes_.put(node, work(object));
        pes_.put(pe, work(object));
        pe_of_[index(object)] = static_cast<int>(pe);
    }

    void deal_passages() {
        std::vector<Passage> passages(problem_.passages.begin(), problem_.passages.end());
        std::stable_sort(passages.begin(), passages.end(),
                         [](const Passage &a, const Passage &b) { return a.load > b.load; });
        for (const Passage &passage : passages) {
            const std::size_t node = nodes_.least(passage, all_nodes());
            const std::size_t pe = pes_.least(passage, pes_of(node));
            nodes_.put(node, passage);
            pes_.put(pe, passage);
            put(passage.object, node, pe);
        }
    }

    // Returns those that do not stay in their node.
    std::vector<int> keep_others() {
        const double limit_s = mean_s(problem_) * (1 + kRefineTolerance);
        std::vector<int> left;
        for (const int object : by_falling_load(problem_.objects)) {
            if (pe_of_[index(object)] != kNowhere)
                continue;
            const std::size_t pe = index(problem_.objects[index(object)].pe);
            const std::size_t node = index(problem_.node_of(static_cast<int>(pe)));
            if (nodes_.after(node, work(object)) > limit_s)
                left.push_back(object);
            else if (pes_.after(pe, work(object)) > limit_s)
                put(object, node, pes_.least(work(object), pes_of(node)));
            else
                put(object, node, pe);
        }
        return left;
    }

    void deal_others(const std::vector<int> &objects) {
        for (const int object : objects) {
            const std::size_t node = nodes_.least(work(object), all_nodes());
            put(object, node, pes_.least(work(object), pes_of(node)));
        }
    }

    const Problem &problem_;
    Places nodes_;
    Places pes_;
    Assignment pe_of_;
};

} // namespace

Assignment Follow::assign(const Problem &problem) const {
    return problem.passages.empty() ? Greedy().assign(problem) : Dealing(problem).run();
}

} // namespace sennit::balance
