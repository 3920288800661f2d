// SPDX-License-Identifier: Apache-2.0
// What the machine looks like, from hwloc. The library is opened when somebody asks: programs that
// never do, pay nothing and need no hwloc.
#pragma once

#include "omp/places.h"

namespace sennit::omp {

// Adds a place for each core, cache, ... of the machine, in hwloc's logical order, of the
// processors in `allowed`; null, or why that is impossible. `synthetic` describes a machine that
// does not exist (hwloc's synthetic topologies), for tests.
const char *add_machine_places(Level level, const CpuSet &allowed, PlaceList &list,
                               const char *synthetic = nullptr);

} // namespace sennit::omp
