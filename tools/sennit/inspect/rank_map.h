// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job would have their shares of this machine, as text for `sennit doctor`:
// what openmp/env/own_share.h does in each rank.
#pragma once

#include "openmp/env/share.h"

#include <string>
#include <vector>

namespace sennit::tool {

// A line for each rank: "processors 0-3, in NUMA domain 0". With many ranks, only the first ones.
std::vector<std::string> rank_map(const omp::CpuSet &allowed, int ranks,
                                  const char *system = omp::system_files());

} // namespace sennit::tool
