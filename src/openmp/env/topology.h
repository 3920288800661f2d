// SPDX-License-Identifier: Apache-2.0
// What the machine looks like, as the system's files tell: a few are read, once, and only for
// programs that ask for abstract places. (hwloc knows more, but takes milliseconds and megabytes of
// every process that opens it.)
#pragma once

#include "decide/tasks/rules.h"
#include "openmp/env/places.h"

namespace sennit::omp {

// Where the files are.
const char *system_files();

// Adds a place for each core, cache, ... of the processors in `allowed`, in the machine's order:
// the cores of a cache, a NUMA domain and a socket next to each other. Null, or why that is
// impossible. Tests have a `system` of their own.
const char *add_machine_places(Level level, const CpuSet &allowed, PlaceList &list,
                               const char *system = system_files());

// The NUMA domains of `allowed`, for queues: `domains` becomes the list of them, in the order of
// the nodes of the machine that is returned.
policy::Machine machine_of(const CpuSet &allowed, PlaceList &domains,
                           const char *system = system_files());

} // namespace sennit::omp
