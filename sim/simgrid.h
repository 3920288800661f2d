// SPDX-License-Identifier: Apache-2.0
// SimGrid's network models behind Fabric, in the program sennit-simgrid alone.
#pragma once

#include "fabric.h"

namespace sennit::sim {

std::unique_ptr<Fabric> make_simgrid(const Machine &machine);

} // namespace sennit::sim
