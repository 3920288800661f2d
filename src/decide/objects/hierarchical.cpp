// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/hierarchical.h"

#include "decide/objects/charm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sennit::balance {
namespace {

// Near the golden section of the number, and without a common divisor: then multiples of it, and of
// its square, lie evenly.
std::int64_t lattice_step(std::int64_t number) {
    for (std::int64_t step = std::llround(static_cast<double>(number) * 0.618034); step > 1; --step)
        if (std::gcd(step, number) == 1)
            return step;
    return 1;
}

double mean_of(std::span<const double> speeds) {
    return speeds.empty() ? 1
                          : std::accumulate(speeds.begin(), speeds.end(), 0.0) /
                                static_cast<double>(speeds.size());
}

// The links of a node's objects among each other, by their numbers there. What they tell objects
// elsewhere is added to their loads: it costs the same on each PE of the node.
std::vector<Link> links_within(const Problem &problem, std::span<const int> members,
                               std::span<MovableObject> inner, double speed) {
    std::vector<int> place(problem.objects.size(), -1);
    for (std::size_t i = 0; i < members.size(); ++i)
        place[index(members[i])] = static_cast<int>(i);
    std::vector<Link> links;
    for (const Link &link : problem.links) {
        const int a = place[index(link.a)];
        const int b = place[index(link.b)];
        if (a >= 0 && b >= 0)
            links.push_back({a, b, link.bytes});
        else if (a >= 0 || b >= 0)
            inner[index(std::max(a, b))].load += link.bytes * problem.seconds_per_byte * speed;
    }
    return links;
}

// The objects are those of one node, but some are on PEs of others (their `pe` does not exist
// here). These go to the PEs that have least.
void let_in(const Problem &node, std::span<MovableObject> objects) {
    LeastLoaded least(node);
    for (const MovableObject &object : objects)
        if (object.pe >= 0 && object.pe < node.pes)
            least.put_on(object.pe, object.load);
    for (const int object : by_falling_load(objects))
        if (MovableObject &one = objects[index(object)]; one.pe < 0 || one.pe >= node.pes)
            one.pe = least.put(one.load);
}

// How nodes are balanced, and the PEs of one: `dealing` if it costs nothing to move within a node.
struct Levels {
    const Strategy &nodes;
    const Strategy &dealing;
};

// `from`: where objects are taken to be, instead of where they are.
Assignment nodes_first(const Problem &problem, std::span<const int> from, const Levels &levels) {
    const Strategy &pes = problem.moves_in_node ? levels.nodes : levels.dealing;
    // Nodes as PEs.
    std::vector<MovableObject> objects(problem.objects.begin(), problem.objects.end());
    for (std::size_t i = 0; i < objects.size(); ++i)
        objects[i].pe = problem.node_of(from[i]);
    const std::vector<double> speeds = speeds_of_nodes(problem);
    const std::vector<double> fixed_s = node_loads_of(problem, {});
    Problem nodes = problem;
    nodes.objects = objects;
    nodes.pes = problem.nodes();
    nodes.pes_of_node = 1;
    nodes.speeds = speeds;
    nodes.fixed_s = fixed_s;
    nodes.seconds_per_byte /= problem.pes_of_node; // its PEs share what links cost it
    const Assignment node_of = levels.nodes.assign(nodes);

    Assignment pe_of(problem.objects.size());
    std::vector<std::vector<int>> held(index(nodes.pes));
    for (std::size_t i = 0; i < node_of.size(); ++i)
        held[index(node_of[i])].push_back(static_cast<int>(i));
    for (int node = 0; node < nodes.pes; ++node) {
        const int first = node * problem.pes_of_node;
        Problem inner = problem;
        inner.pes = std::min(problem.pes_of_node, problem.pes - first);
        inner.positions = {};
        const auto part = [&](std::span<const double> all) {
            return all.empty() ? all : all.subspan(index(first), index(inner.pes));
        };
        inner.speeds = part(problem.speeds);
        inner.fixed_s = part(problem.fixed_s);
        std::vector<MovableObject> members;
        members.reserve(held[index(node)].size());
        for (const int object : held[index(node)]) {
            members.push_back(problem.objects[index(object)]);
            members.back().pe = from[index(object)] - first;
        }
        let_in(inner, members);
        std::vector<Link> links;
        if (pes.looks_at_links())
            links = links_within(problem, held[index(node)], members, mean_of(inner.speeds));
        inner.links = links;
        inner.objects = members;
        const Assignment placed = pes.assign(inner);
        for (std::size_t i = 0; i < members.size(); ++i)
            pe_of[index(held[index(node)][i])] = first + placed[i];
    }
    return pe_of;
}

// PEs in an order in which the nodes take turns.
std::vector<int> node_after_node(const Problem &problem) {
    std::vector<int> order;
    order.reserve(index(problem.pes));
    for (int in_node = 0; in_node < problem.pes_of_node; ++in_node)
        for (int pe = in_node; pe < problem.pes; pe += problem.pes_of_node)
            order.push_back(pe);
    return order;
}

// A PE for each position: a rank-1 lattice (Korobov) over the grid of the positions. Along any line
// and in any small square the nodes take turns, and so do the PEs, if it matters which one of the
// node it is.
Assignment lattice(const Problem &problem) {
    const std::span<const Position> positions = problem.positions;
    double Position::*const dimensions[] = {&Position::x, &Position::y, &Position::z};
    double volume = 1;
    int used = 0;
    double least[3];
    double extent[3];
    for (std::size_t d = 0; d < 3; ++d) {
        const auto [low, high] = std::minmax_element(positions.begin(), positions.end(),
                                                     [&](const Position &a, const Position &b) {
                                                         return a.*dimensions[d] < b.*dimensions[d];
                                                     });
        least[d] = (*low).*dimensions[d];
        extent[d] = (*high).*dimensions[d] - least[d];
        if (extent[d] > 0) {
            volume *= extent[d];
            ++used;
        }
    }
    const double width =
        used == 0 ? 1 : std::pow(volume / static_cast<double>(positions.size()), 1.0 / used);
    const std::vector<int> order = node_after_node(problem);
    const std::int64_t places = problem.moves_in_node ? problem.pes : problem.nodes();
    const std::int64_t step = lattice_step(places);
    Assignment pe_of(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        std::int64_t sum = 0;
        std::int64_t factor = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            if (extent[d] <= 0)
                continue;
            const double place = (positions[i].*dimensions[d] - least[d]) / width;
            sum = (sum + std::llround(place) % places * factor) % places;
            factor = factor * step % places;
        }
        pe_of[i] = order[static_cast<std::size_t>(sum)];
    }
    return pe_of;
}

} // namespace

Assignment Hierarchical::assign(const Problem &problem) const {
    return nodes_first(problem, where_they_are(problem), {Refine(), Greedy()});
}

Assignment HierarchicalComm::assign(const Problem &problem) const {
    return nodes_first(problem, where_they_are(problem), {RefineComm(), GreedyComm()});
}

Assignment Spread::assign(const Problem &problem) const {
    if (problem.positions.empty())
        return Hierarchical().assign(problem);
    return nodes_first(problem, lattice(problem), {Refine(), Greedy()});
}

namespace {

constexpr int kNowhere = -1;
// What a bin has at all counts so much, what it has at the time of a passage 1. Between bins
// that have nothing by then it decides.
constexpr double kOfAll = 0.01;
// An object stays if its node is worse for it than the best one by at most this share.
constexpr double kStays = 0.1;

// Indices of nodes, or of PEs.
struct Range {
    std::size_t first;
    std::size_t end;
};

// PEs, or nodes, with what they have so far: the bins of a packing.
class Bins {
    using Course = Passage::Course;
    static constexpr double kParts = Passage::kParts;

  public:
    Bins(std::vector<double> fixed_s, std::vector<double> speeds)
        : loads_s_(std::move(fixed_s)), speeds_(std::move(speeds)),
          speed_(std::accumulate(speeds_.begin(), speeds_.end(), 0.0)), courses_(loads_s_.size()) {}

    double after(std::size_t bin, double work) const { return loads_s_[bin] + work / speeds_[bin]; }
    void put(std::size_t bin, double work) { loads_s_[bin] = after(bin, work); }
    void put(std::size_t bin, const Passage &passage) {
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            courses_[bin][part] += passage.course[part];
    }
    std::size_t least(double work, Range range) const {
        return best(range, [&](std::size_t bin) { return after(bin, work); });
    }
    std::size_t least(const Passage &passage, Range range) const {
        return best(range, [&](std::size_t bin) { return growth(bin, passage); });
    }
    // Of the sum of squares of the bin's times in all parts. So what counts is what it has at the
    // time of the passage, and a little what it has at all.
    double growth(std::size_t bin, const Passage &passage) const {
        const double at_all = kOfAll * passage.load * loads_s_[bin] / speeds_[bin];
        return growth_by_course(bin, passage) + at_all;
    }
    double growth_by_course(std::size_t bin, const Passage &passage) const {
        return with(courses_[bin], passage) / (speeds_[bin] * speeds_[bin]);
    }
    // Would the bin, with the passage, have no more than its share of `all` at that time? A share
    // is no whole number of passages: it is rounded to the nearest.
    bool has_room(std::size_t bin, const Passage &passage, const Course &all) const {
        double share = 0;
        for (std::size_t part = 0; part < Passage::kParts; ++part)
            share += passage.course[part] * all[part];
        return with(courses_[bin], passage) <= share * speeds_[bin] / kParts / speed_;
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
        for (std::size_t bin = range.first + 1; bin < range.end; ++bin)
            if (const double found = key(bin); found < least) {
                least = found;
                best = bin;
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
    Bins nodes_;
    Bins pes_;
    Assignment pe_of_;
};

} // namespace

Assignment Follow::assign(const Problem &problem) const {
    return problem.passages.empty() ? Spread().assign(problem) : Dealing(problem).run();
}

} // namespace sennit::balance
