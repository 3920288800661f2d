// SPDX-License-Identifier: Apache-2.0
// What a balancing strategy looks at, and what it answers. It is plain data: no MPI, no threads, no
// clocks. So the simulator can use the same strategies as a program (sim/, addons/objects).
//
// The words are those of the paper (openmp-in-charm, section 3). An *object* is a part of the work
// that may move. A *PE* executes objects, one after the other. The PEs of a *node* share its
// memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace sennit::balance {

struct MovableObject {
    double load = 0;       // seconds of work in a step, on a PE of speed 1; not negative
    int pe = 0;            // where the object is
    std::size_t bytes = 0; // that are sent if it moves to another node
};

// Two objects send data to each other in each step.
struct Link {
    int a = 0; // indices of the objects
    int b = 0;
    double bytes = 0;
    bool operator==(const Link &) const = default;
};

// A front (something that makes objects heavy as it passes over them) will be in this object. In
// each part of the coming period it adds some load, and in the mean it adds `load`.
struct Passage {
    static constexpr std::size_t kParts = 16;
    using Course = std::array<float, kParts>;
    int object = 0;
    double load = 0; // is in the object's load
    Course course{};
};

// In the program's own units. A dimension that the program does not have is 0.
struct Position {
    double x = 0;
    double y = 0;
    double z = 0;
};

inline std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

struct Problem {
    std::span<const MovableObject> objects;
    std::span<const Position> positions; // of the objects; empty: not known
    int pes = 1;
    int pes_of_node = 1;
    std::span<const double> speeds;      // of each PE; empty: 1
    std::span<const double> fixed_s;     // seconds of a PE's work that cannot move; empty: 0
    std::span<const Link> links;         // empty: not known
    std::span<const Passage> passages;   // that are expected; empty: none is known of
    double seconds_per_byte = 0;         // of a link between two nodes
    double seconds_per_byte_in_node = 0; // of a link between two PEs of one node
    bool moves_in_node = false;          // an object is also sent if it moves within its node

    int node_of(int pe) const { return pe / pes_of_node; }
    double seconds_per_byte_of(int pe, int other) const {
        return pe == other                     ? 0
               : node_of(pe) == node_of(other) ? seconds_per_byte_in_node
                                               : seconds_per_byte;
    }
    int nodes() const { return (pes + pes_of_node - 1) / pes_of_node; }
    double speed_of(int pe) const { return speeds.empty() ? 1 : speeds[index(pe)]; }
    double fixed_of(int pe) const { return fixed_s.empty() ? 0 : fixed_s[index(pe)]; }
};

// The time of a step if all PEs ended together.
double mean_s(const Problem &problem);

// The PE of each object.
using Assignment = std::vector<int>;

Assignment where_they_are(const Problem &problem);
// The seconds of a step for each PE.
std::vector<double> loads_of(const Problem &problem, std::span<const int> pe_of);
// The seconds of a step that each PE spends on links to other PEs.
std::vector<double> link_seconds_of(const Problem &problem, std::span<const int> pe_of);
// The seconds of a step for each node, if its PEs shared the work perfectly.
std::vector<double> node_loads_of(const Problem &problem, std::span<const int> pe_of);

// The percent imbalance of the paper's equation 1: max / mean - 1, as a share (0.25 is 25%). It is
// 0 if there is no load at all.
double imbalance(std::span<const double> loads);

// The sum of the speeds of each node's PEs.
std::vector<double> speeds_of_nodes(const Problem &problem);

// Are the moves worth their cost? A forecast compares what the slowest PE gains in `steps` steps
// with the cost of the moves. The time of a PE's step is its load and the cost of its links. If a
// front passes, another PE is the slowest in each part of the period, so parts are compared. All
// nodes send and receive at the same time. So the cost of the moves is that of the node (with
// moves_in_node: of the PE) that sends or receives most. To collect loads and to decide costs time,
// too. It is paid in any case, so it says nothing about whether the moves pay.
struct Costs {
    double seconds_per_object = 0; // to pack, send and unpack an object, without its bytes
    double seconds_per_byte = 0;   // of a node
};
struct Forecast {
    double step_before_s = 0; // the slowest PE's, in the mean
    double step_after_s = 0;
    double move_s = 0;
    std::size_t moves = 0; // objects that change their PE
    std::size_t bytes = 0; // that are sent
    double gain_s(double steps) const { return (step_before_s - step_after_s) * steps - move_s; }
};
// `shared`: the PEs of a node share their work (cores go where work is), so a node is judged as a
// whole.
Forecast forecast(const Problem &problem, std::span<const int> pe_of, const Costs &costs,
                  bool shared);

// Persistence: recent loads are the best guess at the next ones (paper openmp-in-charm, section 2).
// So when it is known how long each piece of a loop has taken, this decides with which pieces each
// worker begins.
//
// Pieces have an order, and each worker gets a contiguous range of them. So neighbours in the
// program stay neighbours in a cache. Besides, each worker has a piece of its own, which it cannot
// give away.

struct PieceLoads {
    std::span<const std::uint64_t> loads; // of all pieces, in any unit
    std::span<const int> own;             // by worker: the piece that is its own
    std::span<const int> others;          // the pieces to share, in their order

    std::uint64_t of(int piece) const { return loads[static_cast<std::size_t>(piece)]; }
};

// Cut `others` into ranges. `ends` has one number for each worker and one more, ascending from 0 to
// others.size(). Worker w has others[ends[w]] up to others[ends[w + 1]]. Each range ends where the
// workers up to this one together are nearest to their share.
inline void cut_by_loads(const PieceLoads &pieces, std::span<int> ends) {
    const std::uint64_t workers = pieces.own.size();
    const std::uint64_t all =
        std::accumulate(pieces.loads.begin(), pieces.loads.end(), std::uint64_t{0});
    std::size_t next = 0;
    std::uint64_t given = 0;
    ends.front() = 0;
    for (std::size_t worker = 0; worker + 1 < workers; ++worker) {
        given += pieces.of(pieces.own[worker]);
        const std::uint64_t share = all / workers * (worker + 1);
        for (; next < pieces.others.size(); ++next) {
            const std::uint64_t load = pieces.of(pieces.others[next]);
            if (given + load / 2 >= share)
                break;
            given += load;
        }
        ends[worker + 1] = static_cast<int>(next);
    }
    ends.back() = static_cast<int>(pieces.others.size());
}

// The load of the worker that has most.
inline std::uint64_t most_loaded(const PieceLoads &pieces, std::span<const int> ends) {
    std::uint64_t most = 0;
    for (std::size_t worker = 0; worker < pieces.own.size(); ++worker) {
        std::uint64_t load = pieces.of(pieces.own[worker]);
        for (int i = ends[worker]; i < ends[worker + 1]; ++i)
            load += pieces.of(pieces.others[static_cast<std::size_t>(i)]);
        most = std::max(most, load);
    }
    return most;
}

struct Progress { // of a worker
    std::uint64_t time;
    int next, end; // what is left of its range
};

// The time when all work is done, if each worker begins with its own piece, goes through its range,
// and then takes the last piece of the worker that has most pieces left. Large pieces at the end of
// a range are bad: a worker that has begun the last one has nothing to give away. `progress` is
// written, one for each worker.
inline std::uint64_t end_with_thieves(const PieceLoads &pieces, std::span<const int> ends,
                                      std::span<Progress> progress) {
    for (std::size_t worker = 0; worker < progress.size(); ++worker)
        progress[worker] = {pieces.of(pieces.own[worker]), ends[worker], ends[worker + 1]};
    for (std::size_t left = pieces.others.size(); left > 0; --left) {
        const auto first =
            std::min_element(progress.begin(), progress.end(),
                             [](const Progress &a, const Progress &b) { return a.time < b.time; });
        const auto owner = first->next < first->end
                               ? first
                               : std::max_element(
                                     progress.begin(), progress.end(),
                                     [](const Progress &a, const Progress &b) {
                                         return a.end - a.next < b.end - b.next;
                                     });
        const int piece = owner == first ? owner->next++ : --owner->end;
        first->time += pieces.of(pieces.others[static_cast<std::size_t>(piece)]);
    }
    return std::max_element(progress.begin(), progress.end(),
                            [](const Progress &a, const Progress &b) { return a.time < b.time; })
        ->time;
}

// Whom each object talks to.

// The links of each object, one after the other.
class LinksByObject {
  public:
    explicit LinksByObject(const Problem &problem) : first_(problem.objects.size() + 1) {
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

// How far each object is from the nearest one of some: by positions, or else by links.

constexpr double kOutOfReach = std::numeric_limits<double>::infinity();

std::vector<double> distances_from(const Problem &problem, std::span<const int> sources);

// How many pieces of a loop does a PE offer to others? The paper's answer (openmp-in-charm, 4.3.2
// and 4.3.3) is the larger of two numbers: that of idle PEs, and that of the pieces that others
// took lately. So a loop with which nobody helps is not cut at all.
//
// If nobody has taken anything in kEnd runs in a row, the loop has become balanced. Then it is cut
// no more, no matter what the longer history says, and the history begins anew.
//
// Only a loop that is cut shows whether others would take pieces. So a loop that is cut no more is
// still cut once in a while (a probe).

class Exposure {
  public:
    static constexpr int kLength = 16;     // runs in the history
    static constexpr int kEnd = 8;         // runs in a row without a taken piece end the cutting
    static constexpr int kProbeEvery = 64; // runs of a loop that is not cut, from probe to probe

    // The number of pieces that a PE which begins the loop is to offer, beside its own one: at most
    // pes - 1.
    int pieces(int idle, int pes) {
        const double lately = mean() * (pes - 1);
        int count = std::max(idle, (static_cast<int>(2 * lately) + 1) / 2);
        if (count > 0)
            quiet_ = 0;
        else if (++quiet_ >= kProbeEvery) {
            quiet_ = 0;
            count = 1;
        }
        return std::min(count, pes - 1);
    }

    // Do the runs tell enough? For who can not take back what it has decided.
    bool is_known() const { return runs_ == kLength; }

    // The PE has offered `offered` pieces, and others took `taken` of them.
    void record(int offered, int taken) {
        const double ratio =
            offered == 0 ? 0 : static_cast<double>(taken) / static_cast<double>(offered);
        sum_ += ratio - ratios_[next_];
        ratios_[next_] = ratio;
        next_ = (next_ + 1) % ratios_.size();
        runs_ = std::min(runs_ + 1, kLength);
        if (taken > 0) {
            untaken_ = 0;
        } else if (untaken_ < kEnd) {
            ++untaken_;
            if (untaken_ == kEnd) {
                ratios_ = {};
                sum_ = 0;
                runs_ = kLength;
            }
        }
    }

    // The part of the offered pieces that others took, from 0 to 1: the mean of the last runs.
    double mean() const { return std::max(sum_, 0.0) / kLength; }

  private:
    std::array<double, kLength> ratios_{};
    double sum_ = 0;
    std::size_t next_ = 0;
    int runs_ = 0; // recorded, at most kLength; so many as well when the loop has been balanced
    int quiet_ = 0;
    int untaken_ = 0; // runs in a row of which nothing was taken
};

} // namespace sennit::balance
