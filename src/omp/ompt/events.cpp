// SPDX-License-Identifier: Apache-2.0
// Flush, cancellation, reductions, cross-iteration dependences, errors and control of the tool
// (OpenMP 5.2, 19.5.2.16, 19.5.2.18, 19.5.2.21, 19.5.2.29, 19.5.2.30).
#include "omp/ompt/events.h"
#include "omp/team/team.h"

#include <alloca.h>

namespace sennit::ompt {

void flush(Site site) {
    const Entry entry(site);
    g_tool.flush(&t_thread.data, entry.code());
}

void cancel(Site site, int flags) {
    const Entry entry(site);
    g_tool.cancel(data_of(*entry.worker().task->tool), flags, entry.code());
}

void reduction(Site site, Endpoint endpoint) {
    const Entry entry(site);
    g_tool.reduction(kReduction, endpoint, &omp::member_of(entry.worker()).team->tool.data,
                     data_of(*entry.worker().task->tool), entry.code());
}

void iteration(const std::int64_t *vector, int loops, DependenceType type) {
    auto *list =
        static_cast<Dependence *>(alloca(static_cast<std::size_t>(loops) * sizeof(Dependence)));
    for (int i = 0; i < loops; ++i) {
        list[i].variable.value = static_cast<std::uint64_t>(vector[i]);
        list[i].type = type;
    }
    g_tool.dependences(data_of(*omp::here().task->tool), list, loops);
}

void error(Site site, bool fatal, const char *message, std::size_t length) {
    const Entry entry(site);
    g_tool.error(fatal ? kFatal : kWarning, message, length, entry.code());
}

int control_tool(Site site, int command, int modifier, void *argument) {
    enum { kNoTool = -2, kNoCallback = -1 };
    omp::here(); // by now there is a tool or none
    if (!on())
        return kNoTool;
    const Entry entry(site);
    if (!g_tool.control_tool.wanted())
        return kNoCallback;
    return g_tool.control_tool(static_cast<std::uint64_t>(command),
                               static_cast<std::uint64_t>(modifier), argument, entry.code());
}

} // namespace sennit::ompt
