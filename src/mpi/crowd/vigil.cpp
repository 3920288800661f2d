// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/vigil.h"

#include "base/clock.h"
#include "base/yield_watch.h"
#include "mpi/crowd/hop.h"
#include "mpi/crowd/neighbours.h"
#include "mpi/crowd/spins.h"

#include <algorithm>
#include <sched.h>

namespace sennit::mpi {
namespace {

constexpr int kTests = 4; // before it yields, and after a ring: one is often not enough
constexpr std::int64_t kYieldNs = 1'000'000;
// While every rank that may answer is on this node, and where some are not.
struct Naps {
    std::int64_t first_ns;
    std::int64_t longest_ns;
};
constexpr Naps kWithBells = {1'000'000, 16'000'000};
constexpr Naps kOnTimer = {100'000, 2'000'000};
constexpr Naps kOfFibers = {1'000'000, 4'000'000}; // to wake up costs them little
const Naps &naps() {
    if (g_neighbours.all_have_bells() && g_hops.here())
        return kOfFibers;
    return g_neighbours.all_have_bells() ? kWithBells : kOnTimer;
}

// In nanoseconds, not in ticks.
class Yields {
  public:
    bool pay(std::int64_t now) const { return !watch_.wanted(static_cast<std::uint64_t>(now)); }
    void note(std::int64_t before, std::int64_t now) {
        constexpr std::uint64_t ns_per_us = 1000;
        watch_.note(static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(now), ns_per_us);
    }

  private:
    YieldWatch watch_;
};
constinit Yields g_yields;

} // namespace

void Vigil::rest() {
    if (!crowded()) {
        sched_yield();
        return;
    }
    t_spins.rests();
    switch (stage_) {
    case Stage::testing:
        if (++tests_ < kTests)
            return;
        stage_ = Stage::yielding;
        if (g_neighbours.share_cores()) {
            lend_core();
            lent_ = true;
        }
        if (g_hops.here()) { // to sleep costs no more than to yield
            fall_asleep();
            return;
        }
        begin_ns_ = monotonic_ns();
        [[fallthrough]];
    case Stage::yielding:
        yield();
        return;
    case Stage::sleeping:
        if (armed_)
            sleep();
        else if (++tests_ >= kTests)
            arm();
    }
}

void Vigil::yield() {
    const std::int64_t now = monotonic_ns();
    const bool by_test = g_neighbours.tests_yield();
    if (by_test && tested_ns_ != 0)
        g_yields.note(tested_ns_, now);
    if (g_neighbours.yields_reach_them() && now - begin_ns_ < kYieldNs && g_yields.pay(now)) {
        tested_ns_ = now;
        if (by_test)
            return;
        sched_yield();
        g_yields.note(now, monotonic_ns());
        return;
    }
    fall_asleep();
}

void Vigil::fall_asleep() {
    stage_ = Stage::sleeping;
    nap_ns_ = naps().first_ns;
    arm();
}

// The next test decides whether it sleeps.
void Vigil::arm() {
    // Who rang may wait for what this thread's tests have done since, unless they only tell each
    // other so: then somebody else is late, and rings. The other end of a long message may wait
    // even if it did not ring: it rings in vain while this thread tests.
    const bool collective = operation_.turn.kind == Object::Kind::communicator;
    if ((rung_ || !collective) && answers_ < g_neighbours.answers(operation_)) {
        ++answers_;
        g_neighbours.ring_for(operation_);
    }
    seen_ = g_neighbours.arm();
    armed_ = true;
}

void Vigil::sleep() {
    rung_ = g_neighbours.sleep(seen_, nap_ns_);
    armed_ = false;
    if (rung_) {
        tests_ = 0;
        return;
    }
    nap_ns_ = std::min(2 * nap_ns_, naps().longest_ns);
    tests_ = kTests; // one
}

} // namespace sennit::mpi
