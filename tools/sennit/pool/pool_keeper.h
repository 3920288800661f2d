// SPDX-License-Identifier: Apache-2.0
// The keeper of a pool: a process in the background. It keeps the pool's board there while no
// program uses it; frees the cores of processes that die, at once; and lets the policy think.
//
// Programs need it for none of these to go on: where it is killed they sweep the board themselves.
//
//   SIGUSR1   look whether the pool is to stop: it does when the last process has left
//   SIGTERM   stop now; processes that are still in the pool go on without a keeper
#pragma once

#include "node/core_table.h"
#include "node/identity.h"

#include <string>

namespace sennit::tool {

struct PoolPlan {
    std::string name;
    std::string path;
    std::string policy;
    node::Cores cores;
    bool adopts = false;      // a board whose keeper has died, with its policy and cores
    node::Identity owner = 0; // not 0: the pool is to stop when this process has ended
};

// Returns when the keeper is ready. Throws Failure if it cannot be; nothing is left behind then.
void start_keeper(const PoolPlan &plan);

} // namespace sennit::tool
