// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/tests.h"

#include "base/clock.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"

#include <sched.h>

namespace sennit::mpi {
namespace {

constexpr std::int64_t kNapNs = 50'000;
constexpr std::int64_t kToNobodyNs = 1'000; // so short is a yield if nobody else wants the core
constexpr std::int64_t kPauses = 8;         // of that length between two of those
constexpr unsigned kTests = 4;              // before the next one
constexpr int kRings = 8;                   // or ranks that test would wake all others for ever

struct Rests {
    unsigned tests = 0;        // in vain
    std::int64_t until_ns = 0; // the program's tests go on
    int rings = 0;
};
constinit thread_local Rests t_rests __attribute__((tls_model("initial-exec")));

} // namespace

void rest_between_tests() {
    t_spins.rests(); // what MPI has looked for was the program's
    if (++t_rests.tests % kTests != 0)
        return;
    const std::int64_t begin = monotonic_ns();
    if (begin < t_rests.until_ns)
        return;
    if (t_rests.rings < kRings) { // one of them may have to answer
        ++t_rests.rings;
        g_crowd.neighbours.ring_all();
    }
    const bool reaches = g_crowd.neighbours.yields_reach_them();
    const bool as_fiber = g_crowd.hops.here();
    const bool reaches_fiber = as_fiber && g_crowd.hops.keeps_others();
    if (as_fiber)
        g_crowd.hops.yield();
    else if (!reaches)
        g_crowd.neighbours.sleep(g_crowd.neighbours.arm(), kNapNs);
    else if (!g_crowd.neighbours.tests_yield())
        sched_yield();
    const std::int64_t end = monotonic_ns();
    const std::int64_t took = end - begin;
    const std::int64_t in_vain = took < kToNobodyNs && !reaches_fiber ? kPauses * took : 0;
    t_rests.until_ns = end + (reaches ? in_vain : took); // naps: half of the time at most
}

} // namespace sennit::mpi
