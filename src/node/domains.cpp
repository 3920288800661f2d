// SPDX-License-Identifier: Apache-2.0
#include "node/domains.h"

#include "base/number_list.h"
#include "base/small_file.h"
#include "base/system_files.h"

#include <cstdio>

namespace sennit::node {
namespace {

constexpr int kMostNodes = 1024;

void note_domains(CoreTable &table) {
    const char *const given = given_system_files();
    const char *const system = given ? given : kSystemFiles;
    char path[512];
    char nodes[4096]; // the system's lists are a page at most
    char cores[4096];
    std::snprintf(path, sizeof path, "%s/node/online", system);
    if (read_small_file(path, nodes, sizeof nodes) == 0)
        return;
    each_of_list(nodes, kMostNodes, [&](int node) {
        std::snprintf(path, sizeof path, "%s/node/node%d/cpulist", system, node);
        if (read_small_file(path, cores, sizeof cores) != 0)
            each_of_list(cores, kMostCores, [&](int core) { table.set_domain(core, node); });
    });
}

} // namespace

void widen(CoreTable &table, const Cores &cores) {
    if (cores.end() > table.end())
        note_domains(table);
    table.widen(cores);
}

} // namespace sennit::node
