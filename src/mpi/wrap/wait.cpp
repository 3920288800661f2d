// SPDX-License-Identifier: Apache-2.0
// MPI_Wait is not a row of the table that polls. To wait for one request is common, and the
// requests of many tickets are tested at once.
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/continuations.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/wrap.h"

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
    traced.replace(status);
    const Completions completions(g_record.requests, 1, request);
    if (g_extensions.continuations.any() && !inside_mpi()) {
        static constexpr auto test = SENNIT_BARE(Test);
        return wait_attending(
            {.name = "MPI_Wait", .requests = 1, .handles = request, .path = path_of_wait()}, true,
            1, request, status, [&](int *flag) { return test(request, flag, status); });
    }
    const Path path = path_of_call();
    if (is_as_written(path)) {
        const Blocking mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    Ticket ticket;
    ticket.operation = {.name = "MPI_Wait", .requests = 1, .handles = request, .path = path};
    if (const int error = g_chaos.failure(ticket.operation))
        return error;
    ticket.handle = request;
    ticket.status = status;
    return g_engine.wait_for(ticket, false);
}

} // namespace

SENNIT_DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    const FirstLook look = first_look();
    if (look == FirstLook::marked && !is_marked()) [[likely]] {
        const BlockedMark mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    return look == FirstLook::bare ? kWait(request, status) : attended_wait(request, status);
}

// The calls that start, test and free requests. Some of these may be continuation requests.

namespace {

template <class Start>
int start_attending(int count, const MPI_Request *requests, Start start) {
    if (first_look() != FirstLook::attended)
        return start();
    g_record.starts(count, requests);
    for (int i = 0; i < count; ++i)
        g_record.requests.restarted(requests[i]);
    const int error = outside_task(start);
    if (error != MPI_SUCCESS)
        return error;
    g_record.started(count, requests);
    if (g_extensions.continuations.any())
        g_extensions.continuations.activate(count, requests);
    return MPI_SUCCESS;
}

// Calls test(), and does what has to be done before and after it.
template <class Test>
int try_attending(int count, const MPI_Request *requests, bool all, const int *found,
                  MPI_Status *statuses, Test test) {
    if (!g_extensions.continuations.any())
        return outside_task(test);
    Attendance attendance(Attendance::Mode::test, count, requests);
    attendance.work();
    const int error = outside_task(test);
    return error == MPI_SUCCESS && all && *found ? attendance.conclude(statuses) : error;
}

// test() sets *found: how many are complete, or a flag. Those are at `which`; null: all of them
// are. `name`: null where they stay as they are.
template <class Test>
int test_attending(const char *name, int count, const MPI_Request *requests, const int *which,
                   const int *found, MPI_Status *statuses, Test test) {
    if (first_look() != FirstLook::attended)
        return test();
    const TracedTest traced(name, count, requests);
    const Completions completions(g_record.requests, name ? count : 0, requests);
    const bool all = name && !which;
    const int error = try_attending(count, requests, all, found, statuses, test);
    has_called_mpi();
    if (error == MPI_SUCCESS && *found == 0)
        note_test_in_vain();
    else if (error == MPI_SUCCESS)
        traced.found(*found, which);
    return error;
}

} // namespace

SENNIT_DEFINE(Start, MPI_Request *request) {
    return start_attending(1, request, [&] { return SENNIT_BARE(Start)(request); });
}

SENNIT_DEFINE(Startall, int count, MPI_Request requests[]) {
    return start_attending(count, requests, [&] { return SENNIT_BARE(Startall)(count, requests); });
}

SENNIT_DEFINE(Test, MPI_Request *request, int *flag, MPI_Status *status) {
    return test_attending("MPI_Test", 1, request, nullptr, flag, status,
                          [&] { return SENNIT_BARE(Test)(request, flag, status); });
}

SENNIT_DEFINE(Testall, int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    return test_attending("MPI_Testall", count, requests, nullptr, flag, statuses,
                          [&] { return SENNIT_BARE(Testall)(count, requests, flag, statuses); });
}

SENNIT_DEFINE(Testany, int count, MPI_Request requests[], int *index, int *flag,
              MPI_Status *status) {
    return test_attending("MPI_Testany", count, requests, index, flag, status, [&] {
        return SENNIT_BARE(Testany)(count, requests, index, flag, status);
    });
}

SENNIT_DEFINE(Testsome, int count, MPI_Request requests[], int *outcount, int indices[],
              MPI_Status statuses[]) {
    return test_attending("MPI_Testsome", count, requests, indices, outcount, statuses, [&] {
        return SENNIT_BARE(Testsome)(count, requests, outcount, indices, statuses);
    });
}

SENNIT_DEFINE(Request_get_status, MPI_Request request, int *flag, MPI_Status *status) {
    visit_files();
    return test_attending(nullptr, 1, &request, nullptr, flag, status,
                          [&] { return SENNIT_BARE(Request_get_status)(request, flag, status); });
}

SENNIT_DEFINE(Request_free, MPI_Request *request) {
    static constexpr auto bare = SENNIT_BARE(Request_free);
    if (!request)
        return bare(request); // which says so
    g_record.forget(*request);
    g_record.requests.strike(*request);
    if (first_look() != FirstLook::attended)
        return bare(request);
    if (g_extensions.continuations.any() && !inside_mpi())
        g_extensions.continuations.free(*request);
    return outside_task([&] { return bare(request); });
}

#if MPI_VERSION >= 4
// Headers differ in whether the list of partitions is const.
template <class Call>
struct ListOf;
template <class List>
struct ListOf<int(int, List, MPI_Request)> {
    using Type = List;
};
using Partitions = ListOf<decltype(MPI_Pready_list)>::Type;

static void ready(MPI_Request request, int parts) {
    g_record.requests.ready(request, parts);
    if (first_look() == FirstLook::attended)
        note_send();
}

SENNIT_DEFINE(Pready, int partition, MPI_Request request) {
    ready(request, 1);
    return SENNIT_BARE(Pready)(partition, request);
}

SENNIT_DEFINE(Pready_range, int first, int last, MPI_Request request) {
    ready(request, last - first + 1);
    return SENNIT_BARE(Pready_range)(first, last, request);
}

SENNIT_DEFINE(Pready_list, int length, Partitions partitions, MPI_Request request) {
    ready(request, length);
    return SENNIT_BARE(Pready_list)(length, partitions, request);
}
#endif
