// SPDX-License-Identifier: Apache-2.0
// Which processors of its node a rank binds its threads to, where its launcher has bound it to none
// of its own: ranks that all begin with the same processors would else bind their first threads to
// the same one, their second ones to the next, and leave the others idle.
//
// As if the launcher had bound it, the rank keeps to its share from the start. That is decided
// before anybody asks for the number of processors, and only if the environment says that threads
// are bound.
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

// ---- pure functions, for keep_to_own_share() and its tests ------------------------------------

// Of the ranks of a node, those that share processors: how many, and which of them this one is.
struct Sharers {
    int ranks = 1;
    int rank = 0;
    bool operator==(const Sharers &) const = default;
};
// Of `ranks` that `launchers` processors were given to, number `rank` has got `own`. With all of
// them it shares with everybody. With some, the launcher has spread ranks over sets such as this
// one, either in turns or one set after the other: whichever of both fits to where the set is.
Sharers sharers_of(const CpuSet &own, const CpuSet &launchers, Sharers node);

// How many sharers have the same part of so many processors, at most?
constexpr int ranks_on_part(int processors, int sharers) {
    return sharers > processors ? (sharers + processors - 1) / processors : 1;
}
// The part of `cores` that is one sharer's, whole cores if there are enough; `cores` are in the
// order of the machine. With more sharers than processors some have the same one.
CpuSet part_of(const PlaceList &cores, Sharers sharers);

} // namespace sennit::omp
