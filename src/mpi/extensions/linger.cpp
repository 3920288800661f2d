// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/linger.h"

#include "base/compiler.h"
#include "mpi/call/callback_state.h"
#include "mpi/call/runtime.h"
#include "mpi/crowd/quick_tests.h"
#include "wait/ladder.h"

namespace sennit::mpi {

namespace {

SENNIT_TLS Linger t_linger;

// If other operations are pending, the time is better spent on tasks that can go on. Under the
// policy global senders are told who waits for them, and they do not know yet.
bool may_wait() {
    return g_engine.tickets.pending() == 0 && !crowded() && !g_engine.urgency.on() &&
           !InCallback::polls() && in_task();
}

} // namespace

Tested test_a_while(MPI_Request *request, MPI_Status *status) {
    const QuickTests quick;
    Tested tested = test_request(request, status);
    if (tested.over || !t_linger.pays() || !may_wait())
        return tested;
    wait::Ladder ladder;
    while (!tested.over && ladder.tests(wait::kBoundRequest, [] { return !worker_wanted(); }))
        tested = test_request(request, status);
    t_linger.note(tested.over);
    return tested;
}

} // namespace sennit::mpi
