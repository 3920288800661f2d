// SPDX-License-Identifier: Apache-2.0
// What a balancing strategy looks at, and what it answers. Plain data: no MPI, no threads, no
// clocks. So the simulator drives the same strategies as a program does (sim/, src/objects).
//
// The words are the paper's (openmp-in-charm, section 3): an *object* is a part of the work that
// may move; a *PE* executes objects, one after the other; the PEs of a *node* share its memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sennit::balance {

struct Object {
    double load = 0;       // seconds of work in a step, on a PE of speed 1; not negative
    int pe = 0;            // where it is
    std::size_t bytes = 0; // to be sent if it moves to another node
};

// Two objects tell each other something in each step.
struct Link {
    int a = 0; // indices of objects
    int b = 0;
    double bytes = 0;
};

// In the program's own units; 0 where it has fewer dimensions.
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
    std::span<const double> fixed_s;     // seconds a PE is busy with what cannot move; empty: 0
    std::span<const Link> links;         // empty: not known
    double seconds_per_byte = 0;         // of links, between two nodes
    double seconds_per_byte_in_node = 0; // and between two PEs of one
    bool moves_in_node = false;          // an object that changes its PE only is sent, too

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

// The PE of each object.
using Assignment = std::vector<int>;

Assignment where_they_are(const Problem &problem);
// Seconds of a step, of each PE.
std::vector<double> loads_of(const Problem &problem, std::span<const int> pe_of);
// Seconds of a step that each PE spends on links to other PEs.
std::vector<double> link_seconds_of(const Problem &problem, std::span<const int> pe_of);
// Seconds of a step of each node, if its PEs shared the work perfectly.
std::vector<double> node_loads_of(const Problem &problem, std::span<const int> pe_of);

// The percent imbalance of the paper's equation 1: max / mean - 1, as a share (0.25 is 25%). 0 if
// there is no load at all.
double imbalance(std::span<const double> loads);

// Is it worth it? What the slowest PE gains in `steps` steps, against what the moves cost. Its step
// is its load, and what its links cost it. The cost
// is the larger one of the whole and of the node that sends or receives most.
struct Costs {
    double decide_s = 0;           // to collect loads, to decide, to tell: paid in any case
    double seconds_per_object = 0; // to pack, send, and unpack one, without its bytes
    double seconds_per_byte = 0;   // of a node
};
struct Forecast {
    double step_before_s = 0; // the slowest PE's
    double step_after_s = 0;
    double move_s = 0;
    std::size_t moves = 0; // objects that change their PE
    std::size_t bytes = 0; // that are sent
    double gain_s(double steps) const { return (step_before_s - step_after_s) * steps - move_s; }
};
// Nodes that share their work (cores go where work is) are judged as a whole: `shared`.
Forecast forecast(const Problem &problem, std::span<const int> pe_of, const Costs &costs,
                  bool shared);

} // namespace sennit::balance
