// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/hierarchical.h"

#include "decide/objects/greedy.h"
#include "decide/objects/refine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

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

} // namespace sennit::balance
