// SPDX-License-Identifier: Apache-2.0
// Moving cores by hand: how many each program of a pool is to own, written where the policies that
// seek such targets themselves write them (decide/cores/policy.h).
//
// A move holds until one of the programs ends; then shares count again. Only policies without
// targets of their own leave moves alone.
#pragma once

#include "pool/snapshot.h"

#include <string>

namespace sennit::tool {

// "lammps", "lammps:3" (the job's number) or ":3". Throws Failure where none, or several, match.
int find_job(const Snapshot &snapshot, const std::string &program);

// "4", "+1", "-2". Throws Failure.
int parse_move(const std::string &text, int now);

// New numbers of cores for all jobs, where `job` gets `wanted`: those with the most cores give,
// those with the fewest, relative to their shares, receive. Each keeps one. By job, in their order.
// Throws Failure where that cannot be.
std::vector<int> plan_move(const Snapshot &snapshot, int job, int wanted);

void set_targets(node::Board &board, const std::string &path, const std::vector<int> &jobs,
                 const std::vector<int> &targets);

// Of programs that have ended, and then of all.
void forget_moves_of_others(node::Board &board, const std::string &path);

} // namespace sennit::tool
