// SPDX-License-Identifier: Apache-2.0
// The paper's study of a wave front (openmp-in-charm, section 5) on a virtual machine: domains are
// objects on the PEs of nodes; they are balanced between nodes now and then by the runtime's own
// strategies (src/decide/objects), and loops are shared within nodes.
#pragma once

#include "decide/objects/strategies.h"
#include "sim/shared_step.h"
#include "sim/wave.h"

namespace sennit::sim {

struct FrontMachine {
    int nodes = 64;
    int pes_of_node = 16;
    double bytes_per_s = 5e9; // of a node
    double object_s = 20e-6;  // to pack, send and unpack an object, without its bytes
    double message_s = 10e-6; // of a step of a collective
    double load_s = 0.1e-6;   // to collect and to look at the load of one object
};

struct FrontProgram {
    WaveShape wave;
    int steps = 1000;
    double domain_s = 1.55e-3;   // of a domain without front, in a step
    double parallel = 0.9;       // of the band's work: loops that can be cut
    std::size_t bytes = 7 << 20; // of a domain
    double step_s = 13e-3;       // of a step: all messages, but for
    double halo_bytes = 0;       // what neighbours tell each other in a step, in each direction
};

enum class First { blocks, rows }; // square blocks of domains on each PE, or runs of rows

struct FrontWay {
    const balance::Strategy *strategy = nullptr; // nullptr: never
    int period = 50;                             // steps between two calls
    int window = 0;    // loads are the mean of so many last steps; 0: of all since the last call
    bool gate = false; // only if the forecast says that it is worth it
    Sharing sharing = Sharing::none;
    First first = First::blocks;
};

struct FrontResult {
    double steps_s = 0;   // all time steps
    double balance_s = 0; // all calls of the balancer
    double total_s() const { return steps_s + balance_s; }
    double pe_imbalance = 0;   // mean over the steps
    double node_imbalance = 0; // the same
    double ideal_s = 0;        // work / PEs
    std::size_t moved = 0;     // objects to another PE
    std::size_t crossed = 0;   // bytes to another node
    double told_bytes = 0;     // of halos, between nodes: mean over the steps
    int calls = 0;
    int declined = 0; // by the gate
};

FrontResult simulate_front(const FrontMachine &machine, const FrontProgram &program,
                           const FrontWay &way, const SharingCosts &costs = {});

} // namespace sennit::sim
