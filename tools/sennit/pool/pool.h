// SPDX-License-Identifier: Apache-2.0
// `sennit pool`: cores that programs share by a name, whenever they are started.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

// As typed; what an action does not take is empty.
struct PoolRequest {
    std::string name, cores, policy, program, amount;
    bool now = false;
};

int start_pool(const PoolRequest &request);
int list_pools();
int move_cores(const PoolRequest &request);
int stop_pool(const PoolRequest &request);

// For the help.
std::string pool_policies();
std::vector<std::string> known_pool_policies();

// A number such as -1 is no option: for the command line, before it is parsed.
void protect_numbers(std::vector<std::string> &words);

} // namespace sennit::tool
