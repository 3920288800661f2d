// SPDX-License-Identifier: Apache-2.0
// How far each object is from the nearest one of some: by positions, or else by links.
#pragma once

#include "balance/problem.h"

#include <limits>
#include <span>
#include <vector>

namespace sennit::balance {

constexpr double kOutOfReach = std::numeric_limits<double>::infinity();

std::vector<double> distances_from(const Problem &problem, std::span<const int> sources);

} // namespace sennit::balance
