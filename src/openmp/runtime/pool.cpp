// SPDX-License-Identifier: Apache-2.0
// Cores that the processes of a node share (include/sennit.h): who takes part, and the calls of
// those who know that they wait.
//
// A program with MPI takes part from MPI_Init on, for the MPI library's slot is the process's. Any
// other one does from its start, if it is in a pool. If it is a rank fiber, the host's workers take
// the cores for it (ranks/fibers/party.h).
#include "node/pool.h"
#include "base/compiler.h"
#include "base/environment.h"
#include "base/message.h"
#include "openmp/env/icv.h"
#include "openmp/runtime/library.h"
#include "ranks/fibers/processor_number.h"
#include "ranks/fibers/rank_fiber.h"
#include "sennit.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/worker.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace sennit {
namespace {

using runtime::g_process;

bool has_mpi() {
    return dlsym(RTLD_DEFAULT, "MPI_Init") != nullptr;
}

void leave() {
    sched::end_sharing();
    runtime::hide_times();
    if (g_process.slot)
        g_process.board.leave(*std::exchange(g_process.slot, nullptr));
    g_process.board.close();
}

} // namespace

namespace runtime {

void let_flows_leave_home() {
    virt::RankFiber *const own = virt::main_flow();
    if (!own || gettid() != getpid() || has_mpi())
        return;
    virt::leave_processor_number();
    own->hops.store(1, std::memory_order_relaxed); // its own flow asks
}

void join_pool() {
    const char *const name = trusted_environment("SENNIT_POOL");
    if (!name || !*name || has_mpi())
        return;
    node::Reason reason;
    const node::Membership membership = node::read_membership(reason);
    if (reason)
        warn("%s", reason.text);
    if (!membership.in_pool)
        return;
    reason = {};
    const std::uint64_t job = node::new_job();
    if (g_process.board.open(membership.path, reason)) {
        node::ProcessInfo member = node::own_member(membership);
        member.threads = global_icvs().initial.nthreads[0];
        g_process.slot = g_process.board.join(job, member);
        if (!g_process.slot)
            reason.say("%s has no room for another process", membership.path);
    }
    if (reason)
        return warn("not in the pool %s: %s", name, reason.text);
    if (virt::RankFiber *const own = virt::main_flow();
        own && own->hops.load() != 0 && own->is_pooled)
        own->job.store(job, std::memory_order_release); // pairs with virt::Parties::follow()
    else
        sched::begin_sharing(g_process.board, *g_process.slot);
    std::atexit(leave);
}

void leave_pool_in_child() {
    if (g_process.slot)
        g_process.board.abandon();
    g_process.slot = nullptr;
}

} // namespace runtime

extern "C" {

SENNIT_EXPORT int sennit_pool_share(void *board, int slot) {
    if (!board) {
        if (!g_process.slot)
            sched::end_sharing();
        return SENNIT_SUCCESS;
    }
    if (sched::shares_cores())
        return SENNIT_ERR_PARAMETER;
    g_process.board.borrow(board);
    sched::begin_sharing(g_process.board, g_process.board.slot(slot));
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_pool_lend() {
    if (sched::Worker *const worker = sched::Worker::self(); worker && sched::shares_cores())
        worker->seat.lend();
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_pool_reclaim() {
    if (sched::Worker *const worker = sched::Worker::self(); worker && sched::shares_cores())
        worker->seat.need();
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_pool_ask(int most, int *cores) {
    if (most < 0)
        return SENNIT_ERR_PARAMETER;
    const int found = sched::shares_cores() ? sched::share().ask(most) : 0;
    if (cores)
        *cores = found;
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_pool_get_state(sennit_pool_state *state) {
    if (!state)
        return SENNIT_ERR_PARAMETER;
    *state = {};
    if (sched::shares_cores())
        sched::share().tell(*state);
    return SENNIT_SUCCESS;
}

} // extern "C"
} // namespace sennit
