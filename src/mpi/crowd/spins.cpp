// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/spins.h"

#include "base/clock.h"
#include "mpi/crowd/crowd.h"

#include <sched.h>

namespace sennit::mpi {

constinit thread_local Spins t_spins;

namespace {

constexpr int kRings = 8; // in one call: ranks that spin would wake all others for ever

// Of the program's tests.
struct Rests {
    int tests = 0;             // in vain
    std::int64_t until_ns = 0; // the program's tests go on
    int rings = 0;
};
constinit thread_local Rests t_rests __attribute__((tls_model("initial-exec")));

// One of the ranks that sleep may have to answer.
void ring_some_times(int &rings) {
    if (rings == kRings)
        return;
    ++rings;
    g_crowd.neighbours.ring_all();
}

// MPI may yield itself.
void yield(bool fiber) {
    if (fiber)
        g_crowd.hops.yield();
    else if (!g_crowd.neighbours.tests_yield())
        sched_yield();
}

} // namespace

void Spins::rest() {
    const bool fiber = g_crowd.hops.here();
    const wait::LadderRow &row = fiber ? wait::kSpinOfFiber : wait::kSpin;
    if (ladder_.rung() == wait::Rung::tests)
        ring_some_times(rings_);
    switch (ladder_.beyond_tests(
        row, [](std::int64_t) { return g_crowd.neighbours.yields_reach_them(); })) {
    case wait::Rung::tests:
        return;
    case wait::Rung::yields:
        return yield(fiber);
    case wait::Rung::arms: // one more look
        seen_ = g_crowd.neighbours.arm();
        return;
    case wait::Rung::sleeps:
        if (g_crowd.neighbours.sleep(seen_, ladder_.nap_ns(row)))
            ladder_.begin(row.tests - row.tests_of_ring);
        else
            ladder_.slept(row, false);
    }
}

void rest_between_tests() {
    constexpr const wait::LadderRow &row = wait::kProgramTests;
    t_spins.rests(); // what MPI has looked for was the program's
    if (++t_rests.tests < row.tests)
        return;
    t_rests.tests = 0;
    const std::int64_t begin = monotonic_ns();
    if (begin < t_rests.until_ns)
        return;
    ring_some_times(t_rests.rings);
    const bool reaches = g_crowd.neighbours.yields_reach_them();
    const bool fiber = g_crowd.hops.here();
    const bool reaches_fiber = fiber && g_crowd.hops.keeps_others();
    if (fiber || reaches)
        yield(fiber);
    else
        g_crowd.neighbours.sleep(g_crowd.neighbours.arm(), row.naps.shortest_ns);
    const std::int64_t end = monotonic_ns();
    const std::int64_t took = end - begin;
    const std::int64_t in_vain =
        took < wait::kYieldToNobodyNs && !reaches_fiber ? wait::kPausesOfYield * took : 0;
    t_rests.until_ns = end + (reaches ? in_vain : took); // naps: half of the time at most
}

} // namespace sennit::mpi
