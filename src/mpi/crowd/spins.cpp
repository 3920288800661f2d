// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/spins.h"

#include "base/clock.h"
#include "mpi/crowd/crowd.h"

#include <algorithm>
#include <sched.h>

namespace sennit::mpi {

constinit thread_local Spins t_spins;

namespace {

constexpr std::int64_t kYieldNs = 1'000'000;
constexpr std::int64_t kFirstNapNs = 100'000;
constexpr int kLooksAfterRing = 32; // before it sleeps again
constexpr int kLooksAfterNap = 8;

} // namespace

void Spins::rest() {
    const std::int64_t now = monotonic_ns();
    const bool begins = looks_ == kLooks; // or has been rung
    looks_ = kLooks + 1;
    if (begins) {
        begin_ns_ = now;
        nap_ns_ = 0;
        armed_ = false;
        looks_left_ = 0;
        if (rings_ < kRings) {
            ++rings_;
            g_crowd.neighbours.ring_all();
        }
    }
    if (nap_ns_ == 0 && g_crowd.neighbours.yields_reach_them() && now - begin_ns_ < kYieldNs) {
        if (g_crowd.hops.here())
            g_crowd.hops.yield();
        else if (!g_crowd.neighbours.tests_yield())
            sched_yield();
    } else if (looks_left_ > 0) {
        --looks_left_;
    } else if (!armed_) {
        nap_ns_ = nap_ns_ == 0 ? kFirstNapNs : nap_ns_;
        seen_ = g_crowd.neighbours.arm();
        armed_ = true; // one more look
    } else {
        armed_ = false;
        const bool as_fiber = g_crowd.hops.here();
        if (as_fiber)
            nap_ns_ = nap_of_fiber(now - begin_ns_);
        if (g_crowd.neighbours.sleep(seen_, nap_ns_)) {
            looks_ = kLooks - kLooksAfterRing;
        } else if (as_fiber) {
            looks_left_ = kLooksAfterNap;
        } else {
            nap_ns_ = std::min(2 * nap_ns_, kLongestNapNs);
        }
    }
}

} // namespace sennit::mpi
