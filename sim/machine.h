// SPDX-License-Identifier: Apache-2.0
// The virtual machine: ranks, their threads, the network, and what the runtime's own steps cost.
// Every number that a user can change is a row of parameters.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sennit::sim {

using Time = std::int64_t; // nanoseconds

enum class Network { loggp, simgrid };

struct Machine {
#define SENNIT_PARAMETER(field, name, fallback, least, most, unit, help) double field = fallback;
#include "parameters.def"
#undef SENNIT_PARAMETER

    int rank_count() const { return static_cast<int>(ranks); }
    int thread_count() const { return static_cast<int>(threads); }
    int numa_count() const { return static_cast<int>(numa); }
    std::size_t card_count() const {
        const auto each = static_cast<std::size_t>(ranks_per_card);
        return (static_cast<std::size_t>(ranks) + each - 1) / each;
    }
    Network network = Network::loggp;
    std::string platform;   // SimGrid's file; empty: a star of cards
    bool unlimited = false; // as many threads as there are ready tasks, nothing costs: for bounds
};

struct Parameter {
    std::string_view name;
    double Machine::*field;
    double least, most;
    std::string_view unit, help;
};
std::span<const Parameter> parameters();
const Parameter *find_parameter(std::string_view name);
// Why the values make no machine; empty when they do.
std::string fault_of(const Machine &machine);

} // namespace sennit::sim
