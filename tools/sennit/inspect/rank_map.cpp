// SPDX-License-Identifier: Apache-2.0
#include "inspect/rank_map.h"

#include "pool/core_list.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace sennit::tool {
namespace {

constexpr int most_shown = 64;

std::string list_of(const omp::CpuSet &set) {
    node::Cores cores;
    for (int cpu = -1; (cpu = set.next(cpu)) >= 0 && cpu < node::kMostCores;)
        cores.add(cpu);
    return core_list(cores);
}

std::string place_of(const omp::CpuSet &share, const omp::PlaceList &domains) {
    std::vector<int> touched;
    for (int domain = 0; domain < domains.count(); ++domain)
        if (domains[domain].intersects(share))
            touched.push_back(domain);
    if (domains.count() < 2 || touched.empty())
        return "";
    return fmt::format(", in NUMA domain{} {}", touched.size() == 1 ? "" : "s",
                       fmt::join(touched, " and "));
}

} // namespace

std::vector<std::string> rank_map(const omp::CpuSet &allowed, int ranks, const char *system) {
    omp::PlaceList domains;
    omp::add_machine_places(omp::Level::numa_domains, allowed, domains, system);
    std::vector<std::string> lines;
    for (int rank = 0; rank < std::min(ranks, most_shown); ++rank) {
        const omp::CpuSet share = omp::share_of(allowed, {ranks, rank}, system);
        lines.push_back(fmt::format("processor{} {}{}", share.count() == 1 ? "" : "s",
                                    list_of(share), place_of(share, domains)));
    }
    return lines;
}

} // namespace sennit::tool
