// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/follow.h"

#include "decide/objects/greedy.h"
#include "decide/objects/hierarchical.h"
#include "decide/objects/refine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sennit::balance {
namespace {

constexpr int kNowhere = -1;
// What a place has at all counts so much, what it has at the time of a passage 1. Between places
// that have nothing by then it decides.
constexpr double kOfAll = 0.01;
// An object stays if its node is worse for it than the best one by at most this share.
constexpr double kStays = 0.1;

// Indices of nodes, or of PEs.
struct Range {
    std::size_t first;
    std::size_t end;
};

// PEs, or nodes, with what they have so far.
class Places {
    using Course = Passage::Course;
    static constexpr double kParts = Passage::kParts;

  public:
    Places(std::vector<double> fixed_s, std::vector<double> speeds)
        : loads_s_(std::move(fixed_s)), speeds_(std::move(speeds)),
          speed_(std::accumulate(speeds_.begin(), speeds_.end(), 0.0)), courses_(loads_s_.size()) {}

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
    // Of the sum of squares of the place's times in all parts. So what counts is what it has at the
    // time of the passage, and a little what it has at all.
    double growth(std::size_t place, const Passage &passage) const {
        const double at_all = kOfAll * passage.load * loads_s_[place] / speeds_[place];
        return growth_by_course(place, passage) + at_all;
    }
    double growth_by_course(std::size_t place, const Passage &passage) const {
        return with(courses_[place], passage) / (speeds_[place] * speeds_[place]);
    }
    // Would the place, with the passage, have no more than its share of `all` at that time? A share
    // is no whole number of passages: it is rounded to the nearest.
    bool has_room(std::size_t place, const Passage &passage, const Course &all) const {
        double share = 0;
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            share += passage.course[part] * all[part];
        return with(courses_[place], passage) <= share * speeds_[place] / kParts / speed_;
    }

  private:
    static double with(const Course &there, const Passage &passage) {
        double sum = 0;
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            sum += passage.course[part] * (there[part] + passage.course[part] / 2);
        return sum / kParts;
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
    double speed_; // of all
    std::vector<Course> courses_;
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
        speeds.reserve(index(problem.pes));
        for (int pe = 0; pe < problem.pes; ++pe)
            speeds.push_back(problem.speed_of(pe));
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

    std::size_t pe_of(const Passage &passage) const {
        return index(problem_.objects[index(passage.object)].pe);
    }
    std::size_t node_of(const Passage &passage) const {
        return index(problem_.node_of(problem_.objects[index(passage.object)].pe));
    }

    // First those that can stay in their node. Then the node with least has the next one.
    void deal_passages() {
        std::vector<Passage> passages(problem_.passages.begin(), problem_.passages.end());
        std::stable_sort(passages.begin(), passages.end(),
                         [](const Passage &a, const Passage &b) { return a.load > b.load; });
        Passage::Course all{};
        for (const Passage &passage : passages)
            for (std::size_t part = 0; part < Passage::kParts; ++part)
                all[part] += passage.course[part];
        std::vector<Passage> left;
        for (const Passage &passage : passages)
            if (nodes_.has_room(node_of(passage), passage, all))
                put(passage, node_of(passage));
            else
                left.push_back(passage);
        for (const Passage &passage : left) {
            const std::size_t here = node_of(passage);
            const std::size_t least = nodes_.least(passage, all_nodes());
            const bool stays =
                nodes_.growth(here, passage) <= (1 + kStays) * nodes_.growth(least, passage);
            put(passage, stays ? here : least);
        }
    }

    // On the node's PE that has least at that time. If it is on one that is as good, and to move
    // within a node costs something, it stays.
    void put(const Passage &passage, std::size_t node) {
        std::size_t pe = pes_.least(passage, pes_of(node));
        if (const std::size_t here = pe_of(passage);
            problem_.moves_in_node && node == node_of(passage) &&
            pes_.growth_by_course(here, passage) <= pes_.growth_by_course(pe, passage))
            pe = here;
        nodes_.put(node, passage);
        pes_.put(pe, passage);
        put(passage.object, node, pe);
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
    return problem.passages.empty() ? Spread().assign(problem) : Dealing(problem).run();
}

} // namespace sennit::balance
