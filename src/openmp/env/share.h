// SPDX-License-Identifier: Apache-2.0
// The share that a rank has of the processors of its node, as pure functions: own_share.h keeps a
// rank to it, and `sennit doctor` shows it.
//
// Shares are disjoint, and differ by one core at most. They are cut from the cores in the machine's
// order. So where the numbers go up evenly, a share is of whole NUMA domains, else of whole caches,
// and a core's hardware threads stay together as long as there are enough cores.
#pragma once

#include "openmp/env/places.h"
#include "openmp/env/topology.h"

namespace sennit::omp {

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

// The sharer's part of `allowed`, on a machine as `system` describes it.
CpuSet share_of(const CpuSet &allowed, Sharers sharers, const char *system = system_files());

// The NUMA domains, as far as they are allowed, that the sharer's part lies in: the whole of each.
// `allowed` where the machine has one domain, or does not tell.
CpuSet domains_of_share(const CpuSet &allowed, Sharers sharers,
                        const char *system = system_files());

} // namespace sennit::omp
