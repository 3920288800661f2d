// SPDX-License-Identifier: Apache-2.0
// Is an inner region cut, and how much of it is offered?
#include "openmp/team/inner_regions.h"

#include "base/message.h"
#include "openmp/team/virtual_team.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace sennit::omp {

int InnerHistory::offer(const void *function, int idle, int size, int at_first) {
    balance::Exposure &exposure = regions_.of(function);
    if (!exposure.is_known())
        return std::min(std::max(idle, at_first), size - 1);
    const bool probes = std::exchange(runs_, 0) >= kProbeEvery;
    return exposure.pieces(probes ? std::max(idle, 1) : idle, size);
}

void InnerHistory::record(const void *function, int offered, int taken) {
    balance::Exposure &exposure = regions_.of(function);
    exposure.record(std::max(offered, taken), taken);
    const void *&quiet = quiet_[index_of(function)];
    if (exposure.is_known() && exposure.mean() == 0)
        quiet = function;
    else if (quiet == function)
        quiet = this;
}

static InnerHistory &history_of(sched::Worker &worker) {
    Home &home = home_of(worker);
    if (SENNIT_UNLIKELY(!home.inner)) {
        void *memory = std::malloc(sizeof(InnerHistory));
        if (!memory)
            fatal("no memory for what a thread remembers of regions (%zu bytes)",
                  sizeof(InnerHistory));
        home.inner = new (memory) InnerHistory;
    }
    return *home.inner;
}

// What is not known is cut where it may be the whole work of a task: deeper down, regions in
// regions would be cut into more and more threads.
InnerOffer offer_inner(sched::Worker &worker, const Team &outer, int size, const void *function,
                       bool exact) {
    if (exact)
        return {nullptr, size - 1};
    const Team &outermost = *outer.outermost;
    if (outermost.workers == 1 || split_ends())
        return {};
    InnerHistory &history = history_of(worker);
    const int idle = outermost.idle.load(std::memory_order_relaxed);
    return {&history, history.offer(function, idle, size, outer.active_level == 1 ? size - 1 : 0)};
}

} // namespace sennit::omp
