// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/wrap.h"

#include "mpi/call/errors.h"
#include "mpi/call/members.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/quirks/requests.h"
#include "mpi/record/record.h"

#include <cstdio>
#include <cstring>

namespace sennit::mpi {
namespace {

// The name of the wait's communicator, and who its peers are in the whole job.
void describe_group(const sennit_wait &wait, sennit_wait_text &text) {
    static constexpr auto get_name = SENNIT_BARE(Comm_get_name);
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    const auto comm = handle_from<MPI_Comm>(wait.group);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    int size = 0;
    if (get_size(comm, &size) != MPI_SUCCESS)
        return;
    text.size = size;
    if (get_name(comm, name, &length) != MPI_SUCCESS || !*name)
        std::snprintf(name, sizeof name, "a communicator of %d", size);
    constexpr int room = sizeof text.group - 1; // an end may be left out
    std::snprintf(text.group, sizeof text.group, "%.*s", room, name);
    const Members members(comm);
    if (!members.known())
        return;
    if (wait.direction != 0) {
        text.peer = members.in_world(wait.peer);
        text.send_peer = members.in_world(wait.send_peer);
    }
    if (!members.of_inter())
        text.members = members.fingerprint();
}

// MPI need not be asked about it. While the program is in MPI_Finalize, it cannot be asked.
void describe_world(const sennit_wait &wait, sennit_wait_text &text) {
    std::snprintf(text.group, sizeof text.group, "MPI_COMM_WORLD");
    if (wait.direction != 0) {
        text.peer = wait.peer;
        text.send_peer = wait.send_peer;
    }
}

bool mpi_answers() {
    static constexpr auto finalized = SENNIT_BARE(Finalized);
    int over = 0;
    return any_thread_may_call() && finalized(&over) == MPI_SUCCESS && !over;
}

class Asking {
  public:
    Asking() : may_(g_wrap.answers.begin(mpi_answers)) {}
    ~Asking() { g_wrap.answers.end(); }
    Asking(const Asking &) = delete;
    Asking &operator=(const Asking &) = delete;
    explicit operator bool() const { return may_; }

  private:
    bool may_;
};

void describe(const sennit_wait *wait, sennit_wait_text *text) {
    if (!wait->group)
        return;
    if (knows_constants() && wait->group == handle_bits(MPI_COMM_WORLD))
        return describe_world(*wait, *text);
    const Asking asking;
    if (!asking)
        return g_record.communicators.describe(*wait, *text);
    const Inside inside;
    const QuietTests quiet; // of a wrong handle, which the program has passed
    describe_group(*wait, *text);
}

bool is_complete(MPI_Request request) {
    static constexpr auto get_status = SENNIT_BARE(Request_get_status);
    int flag = 0;
    MPI_Status status;
    return get_status(request, &flag, &status) == MPI_SUCCESS && flag != 0;
}

// May another thread look at the request while its thread waits for it? Only one thread may wait,
// but looking is allowed. In MPICH a request that completes meanwhile leaves its memory to other
// requests of MPI's own kind. A generalized request does not, and for that the program would be
// called, too. Open MPI takes a request that somebody waits for to be complete.
bool may_ask_in_use([[maybe_unused]] const RequestFacts &facts) {
#ifdef MPICH_NUMVERSION
    return std::strcmp(facts.call->name, "MPI_Grequest_start") != 0;
#else
    return false;
#endif
}

sennit_wait operation_of(const RequestFacts &facts) {
    return {.call = facts.call->name,
            .direction = facts.call->direction,
            .peer = facts.peer,
            .tag = facts.tag,
            .requests = 0,
            .count = RequestTable::follows() ? facts.withheld : -1,
            .group = facts.group,
            .handles = nullptr,
            .send_peer = facts.send_peer,
            .send_tag = facts.send_tag};
}

// All that is noted of messages. Nobody can tell which of them a call waits for, so some may be in
// use (may_ask_in_use). But neither MPI ever gives back the memory of such a request.
int list_messages(void (*visit)(void *, const sennit_wait *), void *arg) {
    const Asking asking;
    if (!asking || !g_engine.tickets.hold_token())
        return 0;
    const Inside inside;
    const QuietTests quiet;
    g_record.requests.each([&](MPI_Request request, const RequestFacts &facts) {
        if (facts.call->direction == 0 || is_complete(request))
            return;
        sennit_wait operation = operation_of(facts);
        operation.requests = 1;
        operation.handles = &request;
        visit(arg, &operation);
    });
    g_engine.tickets.release_token();
    return RequestTable::follows() ? 1 : 0;
}

int list_operations(const void *handles, int count, int in_use,
                    void (*visit)(void *, const sennit_wait *), void *arg) {
    if (!handles)
        return list_messages(visit, arg);
    const auto *const requests = static_cast<const MPI_Request *>(handles);
    const Asking asking;
    const bool asks = asking && g_engine.tickets.hold_token();
    const Inside inside;
    const QuietTests quiet;
    bool certain = true;
    for (int i = 0; i < count; ++i) {
        if (requests[i] == MPI_REQUEST_NULL || is_born_complete(requests[i]))
            continue;
        RequestFacts facts;
        const bool known = g_record.requests.find(requests[i], facts);
        const bool safe = in_use == 0 || (known && may_ask_in_use(facts));
        certain = certain && asks && safe;
        if (asks && safe && is_complete(requests[i]))
            continue;
        if (!known) {
            visit(arg, nullptr);
            continue;
        }
        const sennit_wait operation = operation_of(facts);
        visit(arg, &operation);
    }
    if (asks)
        g_engine.tickets.release_token();
    return certain || count == 1; // or else it would have been waited for
}

void list_bound(void (*visit)(void *, sennit_task *, const sennit_wait *), void *arg) {
    struct Context {
        void (*visit)(void *, sennit_task *, const sennit_wait *);
        void *arg;
    } context{visit, arg};
    g_engine.visit_pending(
        [](void *closure, const Ticket &ticket) {
            if (ticket.task)
                return; // suspended: it says itself what it waits for
            const auto &batch = static_cast<const Batch &>(ticket);
            sennit_wait wait = wait_of(batch.operation);
            wait.requests = batch.count;
            wait.handles = batch.requests;
            const auto &to = *static_cast<const Context *>(closure);
            to.visit(to.arg, batch.bound, &wait);
        },
        &context);
}

void list_collectives(void (*visit)(void *, const sennit_collectives *), void *arg) {
    g_record.collectives.visit(visit, arg);
}

} // namespace

constinit const sennit_describer kDescriber = {describe, list_bound, list_operations,
                                               sizeof(MPI_Request), list_collectives};

} // namespace sennit::mpi
