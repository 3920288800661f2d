// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/yields.h"

#include "base/clock.h"
#include "wait/rows.h"

#include <algorithm>
#include <sched.h>

namespace sennit::mpi {
namespace {

// Of the calling thread.
struct Stretch {
    std::int64_t begin_ns = 0; // when its last wait was over
    std::int64_t work_ns = 0;  // its processor time that is written down
    std::int64_t seen_ns = 0;  // what was written down for its core before it yielded
    int core = -1;
};
constinit thread_local Stretch t_stretch __attribute__((tls_model("initial-exec")));

} // namespace

void Yields::stops_work(std::int64_t now) {
    Stretch &own = t_stretch;
    if (!work_ || now - own.begin_ns < wait::kShortYieldOfRankNs)
        return;
    const std::int64_t work = thread_work_ns();
    work_->add(sched_getcpu(), work - own.work_ns);
    own.work_ns = work;
}

void Yields::begins_work(std::int64_t now) {
    t_stretch.begin_ns = now;
}

void Yields::look() {
    if (!work_)
        return;
    t_stretch.core = sched_getcpu();
    t_stretch.seen_ns = work_->of(t_stretch.core);
}

void Yields::note(std::int64_t before, std::int64_t now) {
    constexpr std::uint64_t ns_per_us = 1000;
    const Stretch &own = t_stretch;
    std::int64_t lost = now - before;
    if (lost >= wait::kShortYieldOfRankNs && work_)
        lost -= std::clamp<std::int64_t>(work_->of(own.core) - own.seen_ns, 0, lost);
    watch_.note(static_cast<std::uint64_t>(lost), static_cast<std::uint64_t>(now), ns_per_us);
}

} // namespace sennit::mpi
