// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/share.h"

#include <algorithm>

namespace sennit::omp {
namespace {

// How many of `set` come before `cpu`?
int count_before(const CpuSet &set, int cpu) {
    int count = 0;
    for (int each = -1; (each = set.next(each)) >= 0 && each < cpu;)
        ++count;
    return count;
}

} // namespace

Sharers sharers_of(const CpuSet &own, const CpuSet &launchers, Sharers node) {
    const int mine = own.count();
    const int all = launchers.count();
    if (mine >= all)
        return node;
    const int here = std::min((node.ranks * mine + all - 1) / all, node.ranks);
    if (here <= 1)
        return {};
    const int sets = (node.ranks + here - 1) / here;
    const int set = count_before(launchers, own.next(-1)) / mine;
    const bool in_turns = node.rank % sets == set;
    return {here, std::min(in_turns ? node.rank / sets : node.rank % here, here - 1)};
}

CpuSet part_of(const PlaceList &cores, Sharers sharers) {
    CpuSet part;
    const auto cut = [&](const PlaceList &things) {
        const auto at = [&](int rank) { return things.count() * rank / sharers.ranks; };
        for (int i = at(sharers.rank); i < std::max(at(sharers.rank + 1), at(sharers.rank) + 1);
             ++i)
            part.add(things[i]);
    };
    if (cores.count() >= sharers.ranks) {
        cut(cores);
        return part;
    }
    PlaceList processors;
    for (int core = 0; core < cores.count(); ++core)
        processors.add_singles(cores[core]);
    cut(processors);
    return part;
}

CpuSet share_of(const CpuSet &allowed, Sharers sharers, const char *system) {
    PlaceList cores;
    if (add_machine_places(Level::cores, allowed, cores, system))
        cores.add_singles(allowed);
    return part_of(cores, sharers);
}

CpuSet domains_of_share(const CpuSet &allowed, Sharers sharers, const char *system) {
    PlaceList domains;
    if (add_machine_places(Level::numa_domains, allowed, domains, system) || domains.count() <= 1)
        return allowed;
    const CpuSet share = share_of(allowed, sharers, system);
    CpuSet found;
    for (int i = 0; i < domains.count(); ++i)
        if (domains[i].intersects(share))
            found.add(domains[i]);
    return found;
}

} // namespace sennit::omp
