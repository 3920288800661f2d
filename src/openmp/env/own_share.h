// SPDX-License-Identifier: Apache-2.0
// Which processors of its node a rank binds its threads to, where its launcher has bound it to none
// of its own: ranks that all begin with the same processors would else bind their first threads to
// the same one, their second ones to the next, and leave the others idle.
//
// As if the launcher had bound it, the rank keeps to its share from the start, if the environment
// says that threads are bound. That is decided before anybody asks for the number of processors.
// share.h says which share it is.
//
// If nobody has said where threads run, a rank under Sennit keeps to the NUMA domains of its share,
// as long as there is a processor for each thread of each rank: its memory stays near, and within a
// domain the system moves threads as it likes.
#pragma once

#include "openmp/env/places.h"

#include <sys/types.h>

namespace sennit::omp {

// Once, before sched::setup(); or when a program that was not known to need OpenMP does so. True:
// the calling thread, the initial one, has fewer processors now.
bool keep_to_own_share();
// It has, earlier: so many ranks have the same share. 0: it has not.
int ranks_on_own_share();

// Those of a process, or of the calling thread (0), as the system says; none where it does not.
CpuSet processors_of(pid_t process);

// Do the cores of this node move between processes, in a pool or because ranks lend them? Then a
// thread runs on the core that it has taken, and nothing is bound.
bool cores_move();

} // namespace sennit::omp
