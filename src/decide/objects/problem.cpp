// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/problem.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>

namespace sennit::balance {
namespace {

double greatest(std::span<const double> loads) {
    return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// The step of the slowest PE, or node. If a front passes, this is one PE after the other: the mean
// over the period.
double slowest_s(const Problem &problem, std::span<const int> pe_of, bool shared) {
    std::vector<double> step = shared ? node_loads_of(problem, pe_of) : loads_of(problem, pe_of);
    if (!shared) {
        const std::vector<double> links = link_seconds_of(problem, pe_of);
        std::transform(step.begin(), step.end(), links.begin(), step.begin(), std::plus());
    }
    if (problem.passages.empty())
        return greatest(step);
    const std::vector<double> speeds = shared ? speeds_of_nodes(problem) : std::vector<double>();
    double sum = 0;
    for (std::size_t part = 0; part < Passage::kParts; ++part) {
        std::vector<double> now = step;
        for (const Passage &passage : problem.passages) {
            const int pe = pe_of[index(passage.object)];
            const double more = passage.course[part] - passage.load;
            if (shared)
                now[index(problem.node_of(pe))] += more / speeds[index(problem.node_of(pe))];
            else
                now[index(pe)] += more / problem.speed_of(pe);
        }
        sum += greatest(now);
    }
    return sum / Passage::kParts;
}

} // namespace

double mean_s(const Problem &problem) {
    double work = 0;
    double speed = 0;
    for (int pe = 0; pe < problem.pes; ++pe) {
        work += problem.fixed_of(pe) * problem.speed_of(pe);
        speed += problem.speed_of(pe);
    }
    for (const MovableObject &object : problem.objects)
        work += object.load;
    return work / speed;
}

Assignment where_they_are(const Problem &problem) {
    Assignment pe_of(problem.objects.size());
    std::transform(problem.objects.begin(), problem.objects.end(), pe_of.begin(),
                   [](const MovableObject &object) { return object.pe; });
    return pe_of;
}

std::vector<double> loads_of(const Problem &problem, std::span<const int> pe_of) {
    std::vector<double> loads(index(problem.pes));
    for (int pe = 0; pe < problem.pes; ++pe)
        loads[index(pe)] = problem.fixed_of(pe);
    for (std::size_t i = 0; i < pe_of.size(); ++i)
        loads[index(pe_of[i])] += problem.objects[i].load / problem.speed_of(pe_of[i]);
    return loads;
}

std::vector<double> link_seconds_of(const Problem &problem, std::span<const int> pe_of) {
    std::vector<double> seconds(index(problem.pes));
    for (const Link &link : problem.links) {
        const int a = pe_of[index(link.a)];
        const int b = pe_of[index(link.b)];
        const double both = link.bytes * problem.seconds_per_byte_of(a, b);
        seconds[index(a)] += both;
        seconds[index(b)] += both;
    }
    return seconds;
}

std::vector<double> node_loads_of(const Problem &problem, std::span<const int> pe_of) {
    std::vector<double> work(index(problem.nodes()));
    std::vector<double> speed(work.size());
    for (int pe = 0; pe < problem.pes; ++pe) {
        const std::size_t node = index(problem.node_of(pe));
        work[node] += problem.fixed_of(pe) * problem.speed_of(pe);
        speed[node] += problem.speed_of(pe);
    }
    for (std::size_t i = 0; i < pe_of.size(); ++i)
        work[index(problem.node_of(pe_of[i]))] += problem.objects[i].load;
    for (std::size_t node = 0; node < work.size(); ++node)
        work[node] /= speed[node];
    return work;
}

std::vector<double> speeds_of_nodes(const Problem &problem) {
    std::vector<double> speeds(index(problem.nodes()));
    for (int pe = 0; pe < problem.pes; ++pe)
        speeds[index(problem.node_of(pe))] += problem.speed_of(pe);
    return speeds;
}

double imbalance(std::span<const double> loads) {
    const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
    if (sum <= 0)
        return 0;
    return greatest(loads) * static_cast<double>(loads.size()) / sum - 1;
}

Forecast forecast(const Problem &problem, std::span<const int> pe_of, const Costs &costs,
                  bool shared) {
    Forecast found;
    const Assignment before = where_they_are(problem);
    found.step_before_s = slowest_s(problem, before, shared);
    found.step_after_s = slowest_s(problem, pe_of, shared);
    // What leaves and what enters a node go at the same time.
    const auto place = [&](int pe) {
        return index(problem.moves_in_node ? pe : problem.node_of(pe));
    };
    std::vector<double> sent(index(problem.moves_in_node ? problem.pes : problem.nodes()));
    std::vector<double> received(sent.size());
    for (std::size_t i = 0; i < pe_of.size(); ++i) {
        if (pe_of[i] == before[i])
            continue;
        ++found.moves;
        const std::size_t from = place(before[i]);
        const std::size_t to = place(pe_of[i]);
        if (from == to)
            continue;
        const std::size_t bytes = problem.objects[i].bytes;
        const double cost =
            costs.seconds_per_object + costs.seconds_per_byte * static_cast<double>(bytes);
        found.bytes += bytes;
        sent[from] += cost;
        received[to] += cost;
    }
    found.move_s = std::max(greatest(sent), greatest(received));
    return found;
}

namespace {

std::vector<double> by_links(const Problem &problem, std::span<const int> sources) {
    const LinksByObject neighbours(problem);
    std::vector<double> distances(problem.objects.size(), kOutOfReach);
    std::deque<int> reached(sources.begin(), sources.end());
    for (const int source : sources)
        distances[index(source)] = 0;
    for (; !reached.empty(); reached.pop_front()) {
        const int object = reached.front();
        for (const LinksByObject::End &end : neighbours.of(object)) {
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
