// SPDX-License-Identifier: Apache-2.0
// What the hang report asks of regions and locks.
#pragma once

#include "watch/regions.h"

namespace sennit::runtime {

extern const watch::Regions kHangRegions;

} // namespace sennit::runtime
