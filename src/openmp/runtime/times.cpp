// SPDX-License-Identifier: Apache-2.0
// How the threads spend their time, for the program itself (sennit.h) and for others, who look at
// the board: `sennit top`, and TALP's calls of other processes.
//
// The process's place on the board is the one that it has in a pool, if it has no MPI. Else it
// takes one for this alone, for the MPI library comes to the board later, or never, and leaves it
// sooner. Readers put the places of a process together.
#include "base/hash.h"
#include "base/message.h"
#include "base/rank.h"
#include "node/pool.h"
#include "openmp/env/icv.h"
#include "openmp/env/split.h"
#include "openmp/runtime/library.h"
#include "sennit.h"
#include "tasks/sched/worker.h"
#include "tasks/task/observer.h"
#include "tasks/trace/spent_time.h"
#include "tasks/trace/trace.h"

#include <bit>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace sennit {
namespace {

using runtime::g_process;

static_assert(sizeof(sennit_time_spent) == sizeof(SpentNow) &&
              sizeof(sennit_spent) == sizeof(Spent));

// The ranks of a job on a node have the same launcher, or deputy of it.
std::uint64_t job_of_rank() {
    const std::uint64_t job =
        rank_of_environment() < 0 ? 0 : hash_after(kGolden, node::identity_of(node::launcher()));
    return job ? job : node::new_job();
}

} // namespace

namespace runtime {

void show_times() {
    if (!trace::g_counts)
        return;
    if (g_process.slot)
        return trace::show_spent_time(&g_process.slot->spent);
    node::Reason reason;
    const node::Membership membership = node::read_membership(reason);
    reason = {}; // others have said it
    if (!g_process.times_board.open(membership.path, reason))
        return warn("SENNIT_TALP: %s: no other process sees how time is spent", reason.text);
    node::ProcessInfo member = node::own_member(membership);
    member.rank = rank_of_environment();
    member.threads = global_icvs().initial.nthreads[0];
    g_process.times_slot = g_process.times_board.join(job_of_rank(), member);
    if (!g_process.times_slot)
        return warn("SENNIT_TALP: %s has no room for another process: no other process sees how "
                    "time is spent",
                    membership.path);
    trace::show_spent_time(&g_process.times_slot->spent);
    std::atexit(hide_times);
}

void hide_times() {
    trace::show_spent_time(nullptr);
    if (g_process.times_slot) {
        g_process.times_board.leave(*std::exchange(g_process.times_slot, nullptr));
        g_process.times_board.close();
    }
}

void hide_times_in_child() {
    trace::spent_time_after_fork_in_child();
    if (g_process.times_slot)
        g_process.times_board.abandon();
    g_process.times_slot = nullptr;
}

} // namespace runtime

extern "C" {

SENNIT_EXPORT int sennit_get_time_spent(sennit_time_spent *now) {
    SpentNow counted;
    if (!now || !trace::read_spent_time(counted))
        return SENNIT_ERR_PARAMETER;
    *now = std::bit_cast<sennit_time_spent>(counted);
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_count_time() {
    if (trace::g_counts)
        return SENNIT_SUCCESS;
    int workers = 0;
    for ([[maybe_unused]] const sched::Worker &worker : sched::Worker::all())
        ++workers;
    if (gettid() != getpid() || workers > 1)
        return SENNIT_ERR_PARAMETER;
    trace::begin_to_count();
    omp::let_regions_differ();
    task::observer_setup();
    runtime::show_times();
    return SENNIT_SUCCESS;
}

} // extern "C"
} // namespace sennit
