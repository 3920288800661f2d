// SPDX-License-Identifier: Apache-2.0
// What a balancing strategy looks at, and what it answers. It is plain data: no MPI, no threads, no
// clocks. So the simulator can use the same strategies as a program (sim/, src/objects).
//
// The words are those of the paper (openmp-in-charm, section 3). An *object* is a part of the work
// that may move. A *PE* executes objects, one after the other. The PEs of a *node* share its
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sennit::balance {

struct Object {
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
    std::span<const Object> objects;
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

} // namespace sennit::balance
