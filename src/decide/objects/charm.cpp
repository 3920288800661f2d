// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/charm.h"

#include "decide/objects/problem.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

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

namespace {

// A move that relieves by this part of what the best one does is good enough.
constexpr double kEnough = 0.5;

// An object may go there.
struct Move {
    int object = 0;
    int to = 0;
    double relief_s = 0; // of the PE that it leaves
    double saved_s = 0;  // of all PEs' links
    double bytes = 0;    // that stay within a PE by it, less those that did

    // What it brings together; or what it tears apart for each second of relief.
    std::pair<double, double> worth() const { return {by_relief(saved_s), by_relief(bytes)}; }

  private:
    double by_relief(double gain) const { return gain < 0 ? gain / relief_s : gain; }
};

// A PE's time changes so much.
struct Change {
    int pe;
    double seconds;
};

// The state while objects move one by one. After each move every PE whose time it has changed has
// less than the one had that was relieved. So the times, in falling order, become less: it ends.
class LinkedMoves {
  public:
    explicit LinkedMoves(const Problem &problem)
        : problem_(problem), neighbours_(problem), pe_of_(where_they_are(problem)),
          times_(loads_of(problem, pe_of_)), held_(index(problem.pes)) {
        const std::vector<double> links_s = link_seconds_of(problem, pe_of_);
        std::transform(times_.begin(), times_.end(), links_s.begin(), times_.begin(), std::plus());
        limit_s_ = std::accumulate(times_.begin(), times_.end(), 0.0) / problem.pes *
                   (1 + kRefineTolerance);
        for (std::size_t i = 0; i < pe_of_.size(); ++i)
            held_[index(pe_of_[i])].push_back(static_cast<int>(i));
        for (int pe = 0; pe < problem.pes; ++pe)
            order_.insert({times_[index(pe)], pe});
    }

    Assignment run() {
        while (!order_.empty() && order_.rbegin()->first > limit_s_) {
            const int from = order_.rbegin()->second;
            if (const std::optional<Move> move = best(from))
                make(*move, from);
            else
                order_.erase({times_[index(from)], from}); // until its time changes
        }
        return std::move(pe_of_);
    }

  private:
    double work_s(int object, int pe) const {
        return problem_.objects[index(object)].load / problem_.speed_of(pe);
    }

    // What the move changes, into changes_: both ends of a link pay for it.
    void find_changes(int object, int from, int to) {
        changes_.clear();
        const auto add = [this](int pe, double seconds) {
            const auto known = std::find_if(changes_.begin(), changes_.end(),
                                            [&](const Change &one) { return one.pe == pe; });
            if (known == changes_.end())
                changes_.push_back({pe, seconds});
            else
                known->seconds += seconds;
        };
        add(from, -work_s(object, from));
        add(to, work_s(object, to));
        for (const LinksByObject::End &end : neighbours_.of(object)) {
            const int there = pe_of_[index(end.object)];
            const double before_s = end.bytes * problem_.seconds_per_byte_of(from, there);
            const double after_s = end.bytes * problem_.seconds_per_byte_of(to, there);
            add(from, -before_s);
            add(to, after_s);
            add(there, after_s - before_s);
        }
    }

    // Nothing: it does not help. Else changes_ are the move's.
    std::optional<Move> judge(int object, int from, int to) {
        find_changes(object, from, to);
        const double most_s = times_[index(from)];
        Move move;
        move.object = object;
        move.to = to;
        for (const Change &one : changes_) {
            if (times_[index(one.pe)] + one.seconds >= most_s)
                return std::nullopt;
            if (one.pe == from)
                move.relief_s = -one.seconds;
        }
        for (const LinksByObject::End &end : neighbours_.of(object)) {
            const int there = pe_of_[index(end.object)];
            move.saved_s += 2 * end.bytes *
                            (problem_.seconds_per_byte_of(from, there) -
                             problem_.seconds_per_byte_of(to, there));
            move.bytes += there == to ? end.bytes : there == from ? -end.bytes : 0;
        }
        return move;
    }

    // The receiver stays within the limit with those that fit.
    bool fits(int to) const {
        return std::all_of(changes_.begin(), changes_.end(), [&](const Change &one) {
            return one.pe != to || times_[index(to)] + one.seconds <= limit_s_;
        });
    }

    int least_of_node(int node) const {
        const int first = node * problem_.pes_of_node;
        const int end = std::min(first + problem_.pes_of_node, problem_.pes);
        const auto least = std::min_element(times_.begin() + first, times_.begin() + end);
        return static_cast<int>(least - times_.begin());
    }

    // Receivers are the least loaded PEs, of all and of the node, and those of whom it talks to.
    std::optional<Move> best(int from) {
        const int least = order_.begin()->second;
        const int least_near = least_of_node(problem_.node_of(from));
        fitting_.clear();
        std::optional<Move> smallest; // of those that do not fit
        for (const int object : held_[index(from)]) {
            if (problem_.objects[index(object)].load <= 0)
                continue;
            std::set<int> receivers{least, least_near};
            for (const LinksByObject::End &end : neighbours_.of(object))
                receivers.insert(pe_of_[index(end.object)]);
            receivers.erase(from);
            for (const int to : receivers) {
                const std::optional<Move> move = judge(object, from, to);
                if (!move)
                    continue;
                if (fits(to))
                    fitting_.push_back(*move);
                else if (!smallest || move->relief_s < smallest->relief_s)
                    smallest = move;
            }
        }
        if (fitting_.empty())
            return smallest;
        const auto most =
            std::max_element(fitting_.begin(), fitting_.end(),
                             [](const Move &a, const Move &b) { return a.relief_s < b.relief_s; });
        const double enough_s = most->relief_s * kEnough;
        const auto rank = [&](const Move &one) {
            const bool is_enough = one.relief_s >= enough_s;
            return std::tuple(is_enough, is_enough ? one.worth() : std::pair(0., 0.), one.relief_s);
        };
        return *std::max_element(fitting_.begin(), fitting_.end(),
                                 [&](const Move &a, const Move &b) { return rank(a) < rank(b); });
    }

    void make(const Move &move, int from) {
        find_changes(move.object, from, move.to);
        for (const Change &one : changes_) {
            double &time = times_[index(one.pe)];
            order_.erase({time, one.pe});
            time += one.seconds;
            order_.insert({time, one.pe});
        }
        std::vector<int> &here = held_[index(from)];
        here.erase(std::find(here.begin(), here.end(), move.object));
        held_[index(move.to)].push_back(move.object);
        pe_of_[index(move.object)] = move.to;
    }

    const Problem &problem_;
    const LinksByObject neighbours_;
    Assignment pe_of_;
    std::vector<double> times_; // of each PE, with its links
    double limit_s_ = 0;
    std::vector<std::vector<int>> held_;     // by each PE
    std::set<std::pair<double, int>> order_; // PEs by time, without those that were given up
    std::vector<Change> changes_;
    std::vector<Move> fitting_;
};

} // namespace

Assignment RefineComm::assign(const Problem &problem) const {
    return LinkedMoves(problem).run();
}

} // namespace sennit::balance
