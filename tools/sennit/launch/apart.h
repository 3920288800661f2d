// SPDX-License-Identifier: Apache-2.0
// `sennit run --apart -n 4 ./ocean : -n 2 ./ice : -n 1 ./viz`: several programs by one command,
// each a job of its own with its own launcher and MPI_COMM_WORLD. They share a pool of cores, which
// is there for this command alone unless one is named. As virtual ranks, those of a node share an
// address space, too (paper mpi-process-virtualization, sections 4.2 and 4.3).
//
// A child of this process runs each of them as `sennit run` would. A signal that the terminal sent
// has reached the children; one that was sent to this process alone is handed on. What is left of a
// program that did not end well is ended by its child, what is left of all by this process.
#pragma once

#include "launch/environment.h"

namespace sennit::tool {

// Returns the exit code: that of the program that failed first, or 0.
int run_apart(const JobSpec &spec, const Installation &installation);

} // namespace sennit::tool
