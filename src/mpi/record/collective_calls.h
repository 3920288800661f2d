// SPDX-License-Identifier: Apache-2.0
// The collective calls that the process has made on each communicator, for reports of hangs.
//
// All ranks of a communicator must make its collective calls in the same order (MPI 4.0, section
// 6.14). So the n-th call of one rank belongs to the n-th of every other. A rank with a lower count
// has not come to a call. A rank whose n-th call is another one has mixed them up. The calls in
// which the ranks are now do not tell either: the root of a broadcast goes on before the others.
//
// Every call that the program makes is counted, those that block and those that do not. What MPI
// libraries and this one call themselves is not counted.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/object.h"
#include "sennit.h"

namespace sennit::mpi {

// Begin the program's next collective call on the communicator; returns its number, from 1, or -1
// when nobody counts. `root`: -1 for calls without one.
int count_collective(Object comm, const char *name, int root);

// The same where the call may be one of the MPI library's own.
inline int count_unless_inside(Object comm, const char *name, int root) {
    return inside_mpi() ? -1 : count_collective(comm, name, root);
}

// The communicator is about to go: its handle may come back, for another one.
void forget_collectives(const MPI_Comm *comm);

void visit_collectives(void (*visit)(void *arg, const sennit_collectives *made), void *arg);

} // namespace sennit::mpi
