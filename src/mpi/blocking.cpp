// SPDX-License-Identifier: Apache-2.0
#include "mpi/blocking.h"

#include "mpi/batch.h"
#include "mpi/errors.h"
#include "mpi/posted.h"

#include <cstdio>
#include <cstdlib>

namespace sennit::mpi {

bool Blocking::may_mark() {
    if (marked_call() == &g_unknown) {
        static const auto tell = reinterpret_cast<decltype(&::sennit_thread_blocks)>(
            find_in_runtime("sennit_thread_blocks"));
        t_mark.call = nullptr;
        if (tell)
            tell(&t_mark); // else, and without memory, nobody asks
    }
    return !is_marked();
}

Blocking::Blocking(const Operation &operation) {
    if (!may_mark())
        return;
    const bool of_requests = operation.requests > 0;
    t_mark.said = {operation.name, static_cast<int>(operation.notice), of_requests};
    mark_.emplace(t_mark.said, of_requests ? operation.requests : operation.peer, operation.tag,
                  of_requests ? handle_bits(operation.handles) : group_of(operation.object));
}

sennit_wait wait_of(const Operation &operation) {
    return {operation.name,
            static_cast<int>(operation.notice),
            operation.peer,
            operation.tag,
            operation.requests,
            operation.count,
            group_of(operation.object),
            operation.handles};
}

namespace {

// Of the library behind `bits`, what people call it, and who `peer` is in the whole job. Local
// calls, and the communicator is in use, so it lives.
void describe_group(std::uint64_t bits, int peer, sennit_wait_text &text) {
    static constexpr auto get_name = SENNIT_BARE(Comm_get_name);
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto is_inter = SENNIT_BARE(Comm_test_inter);
    static constexpr auto group_of_comm = SENNIT_BARE(Comm_group);
    static constexpr auto remote_group = SENNIT_BARE(Comm_remote_group);
    static constexpr auto group_size = SENNIT_BARE(Group_size);
    static constexpr auto translate = SENNIT_BARE(Group_translate_ranks);
    static constexpr auto group_free = SENNIT_BARE(Group_free);
    const auto comm = handle_from<MPI_Comm>(bits);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    int size = 0;
    int inter = 0;
    if (get_size(comm, &size) != MPI_SUCCESS || is_inter(comm, &inter) != MPI_SUCCESS)
        return;
    text.size = size;
    if (get_name(comm, name, &length) != MPI_SUCCESS || !*name)
        std::snprintf(name, sizeof name, "a communicator of %d", size);
    constexpr int room = sizeof text.group - 1; // an end may be left out
    std::snprintf(text.group, sizeof text.group, "%.*s", room, name);
    if (peer < 0)
        return;
    MPI_Group theirs = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    if ((inter ? remote_group : group_of_comm)(comm, &theirs) != MPI_SUCCESS)
        return;
    if (group_of_comm(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        int members = 0;
        int rank = MPI_UNDEFINED;
        // The program may have got its peer wrong.
        if (group_size(theirs, &members) == MPI_SUCCESS && peer < members &&
            translate(theirs, 1, &peer, world, &rank) == MPI_SUCCESS && rank != MPI_UNDEFINED)
            text.peer = rank;
        group_free(&world);
    }
    group_free(&theirs);
}

// The runtime asks on a thread of its own.
bool may_ask() {
    static constexpr auto finalized = SENNIT_BARE(Finalized);
    int over = 0;
    return multiple() && finalized(&over) == MPI_SUCCESS && !over;
}

void describe(const sennit_wait *wait, sennit_wait_text *text) {
    if (!wait->group || !may_ask())
        return;
    const Inside inside;
    const QuietTests quiet; // of a wrong handle, which the program has passed
    describe_group(wait->group, wait->direction != 0 ? wait->peer : -1, *text);
}

bool is_complete(MPI_Request request) {
    static constexpr auto get_status = SENNIT_BARE(Request_get_status);
    int flag = 0;
    MPI_Status status;
    return get_status(request, &flag, &status) == MPI_SUCCESS && flag != 0;
}

int list_operations(const void *handles, int count, int in_use,
                    void (*visit)(void *, const sennit_wait *), void *arg) {
    const auto *const requests = static_cast<const MPI_Request *>(handles);
    const bool asks = in_use == 0 && may_ask() && hold_tests();
    const Inside inside;
    const QuietTests quiet;
    for (int i = 0; i < count; ++i) {
        if (requests[i] == MPI_REQUEST_NULL || is_born_complete(requests[i]) ||
            (asks && is_complete(requests[i])))
            continue;
        Posted posted;
        if (!find_posted(requests[i], posted)) {
            visit(arg, nullptr);
            continue;
        }
        const sennit_wait operation = {.call = posted.call->name,
                                       .direction = posted.call->direction,
                                       .peer = posted.peer,
                                       .tag = posted.tag,
                                       .requests = 0,
                                       .count = -1,
                                       .group = posted.group,
                                       .handles = nullptr};
        visit(arg, &operation);
    }
    if (asks)
        release_tests();
    return asks || count == 1; // or else it would have been waited for
}

void list_bound(void (*visit)(void *, sennit_task *, const sennit_wait *), void *arg) {
    struct Context {
        void (*visit)(void *, sennit_task *, const sennit_wait *);
        void *arg;
    } context{visit, arg};
    visit_pending(
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

} // namespace

constinit const sennit_describer g_describer = {describe, list_bound, list_operations,
                                                sizeof(MPI_Request)};

} // namespace sennit::mpi
