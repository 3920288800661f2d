// SPDX-License-Identifier: Apache-2.0
// One time step on one node: PEs execute their domains, and help each other as far as they may.
#pragma once

#include "decide/objects/problem.h"

#include <span>
#include <vector>

namespace sennit::sim {

enum class Sharing {
    none,    // each PE executes its own domains
    loops,   // the paper's: idle PEs take pieces of a domain's loops
    objects, // idle PEs take whole domains that have not begun, or else pieces of loops
    tasks,   // the same, and each loop is a piece for each PE, whoever is idle: a taskloop
};

struct SharingCosts {
    double piece_s = 0.5e-6; // to offer one
    double take_s = 1e-6;    // to take something of another PE
    double foreign = 1.05;   // work that another PE does is slower: its data are in a farther cache
};

struct DomainTime {
    double serial_s = 0;
    double loops_s = 0; // can be cut
};

// State that lasts from step to step: each PE's history.
class NodeOfPes {
  public:
    NodeOfPes(int pes, Sharing sharing, const SharingCosts &costs)
        : exposures_(static_cast<std::size_t>(pes)), sharing_(sharing), costs_(costs) {}

    struct Step {
        double end_s = 0;
        std::vector<double> busy_s; // of each PE
    };
    // `domains`: of each PE, in the order of their execution.
    Step run(std::span<const std::vector<DomainTime>> domains);

  private:
    std::vector<balance::Exposure> exposures_; // of each PE
    Sharing sharing_;
    SharingCosts costs_;
};

} // namespace sennit::sim
