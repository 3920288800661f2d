// SPDX-License-Identifier: Apache-2.0
// MPI_Wait is not a row of the table that polls. To wait for one request is common, and the
// requests of many tickets are tested at once.
#include "mpi/call/blocked_mark.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/attendance.h"
#include "mpi/record/traced.h"

using namespace sennit::mpi;

namespace {

constexpr auto kWait = SENNIT_BARE(Wait);

constexpr sennit_call kWaits{"MPI_Wait", 0, 1};

[[gnu::noinline]] int attended_wait(MPI_Request *request, MPI_Status *status) {
    Traced traced({.name = "MPI_Wait",
                   .direction = 0,
                   .peer = -1,
                   .tag = -1,
                   .object = {},
                   .requests = 1,
                   .handles = request});
    status = traced.status(status);
    const Completions completions(g_record.requests, 1, request);
    if (g_extensions.continuations.any() && !inside_mpi()) {
        static constexpr auto test = SENNIT_BARE(Test);
        return wait_attending({.name = "MPI_Wait", .requests = 1, .handles = request}, true, 1,
                              request, status, in_task(),
                              [&](int *flag) { return test(request, flag, status); });
    }
    if (!must_not_block()) {
        const Blocking mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    const Operation operation = {.name = "MPI_Wait", .requests = 1, .handles = request};
    if (const int error = g_chaos.failure(operation))
        return error;
    Ticket ticket;
    ticket.handle = request;
    ticket.status = status;
    return g_engine.wait_for(operation, ticket);
}

} // namespace

SENNIT_DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    const CallPath path = call_path();
    if (path == CallPath::marked && !is_marked()) [[likely]] {
        const BlockedMark mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    return path == CallPath::bare ? kWait(request, status) : attended_wait(request, status);
}
