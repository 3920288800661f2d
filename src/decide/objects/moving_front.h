// SPDX-License-Identifier: Apache-2.0
// A front that passes over objects: which ones will it be in during the coming period, and when?
//
// Objects that it is in cost more for a while, then as much as before. So what an object costs
// beyond its least load tells when the front was there. Objects in which it was in earlier periods
// are behind it. When it reaches another one follows from how far that one is from these (Huygens),
// and from how far the front came in the last period.
//
// Distances are those of positions. If there are none, links are counted.
#pragma once

#include "decide/objects/problem.h"

#include <span>
#include <vector>

namespace sennit::balance {

// The loads of all objects, for each period, the last one first.
using Periods = std::span<const std::span<const double>>;

// Empty: no front is seen. Two periods are needed to see one.
std::vector<Passage> coming_passages(const Problem &problem, Periods periods);

// The least load of each object.
std::vector<double> least_loads(Periods periods);

} // namespace sennit::balance
