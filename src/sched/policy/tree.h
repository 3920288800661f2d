// SPDX-License-Identifier: Apache-2.0
// Queues follow the machine (the paper, section 4.1): the threads of a NUMA node share one. A
// thread that finds its own queue empty looks at near ones before far ones. On a machine with one
// node there is one queue.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace sennit::policy {

inline constexpr int kMostNodes = 64; // NUMA nodes; those beyond share the last one's queue

struct Machine {
    int nodes = 1;
    std::uint8_t package[kMostNodes] = {}; // of each node

    // The `rank`-th node to look at for a thread of node `from`: itself, the others of its package,
    // the rest. Each starts with its next neighbour, so that they do not all look at node 0 first.
    int look_at(int from, int rank) const {
        if (rank == 0)
            return from;
        for (const bool same : {true, false}) {
            for (int step = 1; step < nodes; ++step) {
                const int node = (from + step) % nodes;
                if ((package[node] == package[from]) == same && --rank == 0)
                    return node;
            }
        }
        return from;
    }
};

} // namespace sennit::policy
