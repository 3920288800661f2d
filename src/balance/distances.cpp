// SPDX-License-Identifier: Apache-2.0
#include "balance/distances.h"

#include "balance/neighbours.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace sennit::balance {
namespace {

std::vector<double> by_links(const Problem &problem, std::span<const int> sources) {
    const Neighbours neighbours(problem);
    std::vector<double> distances(problem.objects.size(), kOutOfReach);
    std::deque<int> reached(sources.begin(), sources.end());
    for (const int source : sources)
        distances[index(source)] = 0;
    for (; !reached.empty(); reached.pop_front()) {
        const int object = reached.front();
        for (const Neighbours::End &end : neighbours.of(object)) {
            if (distances[index(end.object)] != kOutOfReach)
                continue;
            distances[index(end.object)] = distances[index(object)] + 1;
            reached.push_back(end.object);
        }
    }
    return distances;
}

double squared(const Position &a, const Position &b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z);
}

// Sources in the order of x. One that is farther away in x alone than another one is in all need
// not be looked at.
std::vector<double> by_positions(const Problem &problem, std::span<const int> sources) {
    std::vector<Position> at;
    at.reserve(sources.size());
    for (const int source : sources)
        at.push_back(problem.positions[index(source)]);
    const auto is_left = [](const Position &a, const Position &b) { return a.x < b.x; };
    std::sort(at.begin(), at.end(), is_left);
    std::vector<double> distances;
    distances.reserve(problem.positions.size());
    for (const Position &here : problem.positions) {
        double best = kOutOfReach;
        const auto middle = std::lower_bound(at.begin(), at.end(), here, is_left);
        for (auto one = middle; one != at.end(); ++one) {
            if ((one->x - here.x) * (one->x - here.x) >= best)
                break;
            best = std::min(best, squared(*one, here));
        }
        for (auto one = middle; one != at.begin();) {
            --one;
            if ((one->x - here.x) * (one->x - here.x) >= best)
                break;
            best = std::min(best, squared(*one, here));
        }
        distances.push_back(std::sqrt(best));
    }
    return distances;
}

} // namespace

std::vector<double> distances_from(const Problem &problem, std::span<const int> sources) {
    return problem.positions.empty() ? by_links(problem, sources) : by_positions(problem, sources);
}

} // namespace sennit::balance
