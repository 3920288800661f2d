// SPDX-License-Identifier: Apache-2.0
// What the templates of the wrappers know of a call. For each call generate.py writes a struct of
// the call's arguments, named as in the MPI's header. Beside the arguments it has
//
//   static constexpr Row row   what calls.txt and the header say of the call
//   Facts facts()              what the arguments are for
//   int bare()                 the MPI's own call, or a function of ours in its place
//   int bare_for_task()        the same where there may be tasks, if that is another one
//   int start(request)         kinds start and collective: the non-blocking form
//   int test(flag)             kinds wait and poll: the testing form
//   MPI_Status *&received()    calls that fill a status, which the timeline reads, too
//   std::int64_t volume()      collectives: how many bytes they move at this rank (crowd/length.h)
//   bool has_twin()            where the non-blocking form may be unfit (quirks/arguments.h)
//   void awaits(error)         calls that make a request: tells the crowd (crowd/rings.h)
//
// Only what a call has is there: templates ask by `requires`.
#pragma once

#include "base/agreements.h"
#include "mpi/call/operation.h"
#include "mpi/crowd/rings.h"
#include "mpi/engine/helpers.h"
#include "mpi/record/timeline.h"
#include "mpi/wrap/wrap.h"
#include "sennit.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// What the call does in a task (calls.txt).
enum class CallKind {
    start,
    collective, // start, and all ranks have to decide alike
    wait,       // poll, for requests
    poll,
    delegate,
    message, // notify, trace
    test,
    persistent,
    expose,  // notes that the task sends
    request, // no row: it makes a request
};

// What its calls keep their order on.
enum class CallOrder { none, collective, files };

// Collectives of a few bytes may be made without messages (crowd/assembled.h).
enum class Assembles { nothing, barrier, allreduce, reduce, bcast };

// Where the task sends, for the runtime's policies. (A message's row says so by its notice.)
enum class Sends { nowhere, always, at_root, elsewhere };

struct Row {
    sennit_call call; // as marks and requests name it
    CallKind kind;
    Notice notice = Notice::none;
    CallOrder order = CallOrder::none;
    Assembles assembles = Assembles::nothing;
    Sends sends = Sends::nowhere;
    bool often = false;           // most messages take it: placed beside others of its kind
    bool counted = false;         // as a collective call of its communicator (record.h)
    bool has_peer = false;        // one of its arguments is a peer, or a root
    bool on_file = false;         // what takes long in a file waits for no other rank
    bool at_once = false;         // a send that MPI may not copy aside: was it over at once?
    bool all = false;             // it waits for all of its requests
    bool merges = false;          // one call serves all equal ones (engine/helpers.h)
    bool whole = false;           // it is over at the targets, too
    bool alone = false;           // no other collective may be under way beside it (header.py)
    bool makes_request = false;   // in its last argument
    bool stays = false;           // that request is persistent
    bool adopts = false;          // it makes a communicator, and all ranks of its parent call it
    bool parts_with_data = false; // see quirks/arguments.h
    const char *name_in_task = nullptr; // a collective's, where it is the non-blocking form
    const char *twin_name = nullptr;    // of its non-blocking form
    const char *bound_name = nullptr;   // of TAMPI's form
};

// What the arguments of one call are for.
struct Facts {
    Object object = {};
    int peer = -1;
    int tag = -1;
    int root = -1;
    int target = -1;         // of a call that merges
    std::int64_t count = -1; // elements
    MPI_Datatype type = {};  // of these, if `typed`
    bool typed = false;
    int requests = 0; // in `handles`
    MPI_Request *handles = nullptr;
    MPI_Request *request = nullptr; // where it writes one
    int parts = -1;                 // of a partitioned send
};

// By its parts: a copy of the whole would go by way of the stack.
inline Object object_of(const Facts &facts) {
    return {facts.object.kind, facts.object.handle};
}
inline MPI_Comm comm_of(const Facts &facts) {
    return handle_from<MPI_Comm>(facts.object.handle);
}
inline std::uint64_t bytes_of(const Facts &facts) {
    return facts.typed ? message_bytes(facts.count, facts.type) : 0;
}
inline std::uintptr_t type_bits(const Facts &facts) {
    return facts.typed ? handle_bits(facts.type) : 0;
}
inline Object turn_of(const Row &row, const Facts &facts) {
    switch (row.order) {
    case CallOrder::none:
        return {};
    case CallOrder::collective:
        return object_of(facts);
    case CallOrder::files:
        return file_turn(object_of(facts));
    }
    return {};
}

// The runtime's policies are told, where this rank sends. What a synchronization of one-sided
// communication completes may have been put by another task.
void note_if_sends(const Row &row, const Facts &facts);

// For the timeline.
inline CallFacts call_facts(const Row &row, const Facts &facts) {
    return {.name = row.call.name,
            .direction = static_cast<int>(row.notice),
            .peer = facts.peer,
            .tag = facts.tag,
            .object = object_of(facts),
            .requests = facts.requests,
            .handles = facts.handles};
}
// For the engine. `number`: of a collective call, else its tag.
inline Operation operation_of(const Row &row, const Facts &facts, int number, Path path) {
    return {.name = row.call.name,
            .notice = row.notice,
            .peer = facts.peer,
            .tag = number,
            .object = object_of(facts),
            .turn = turn_of(row, facts),
            .count = facts.count,
            .requests = facts.requests,
            .handles = facts.handles,
            .path = path};
}

// For helper threads.
inline SameCall same_call(const Row &row, const Facts &facts) {
    return {row.merges ? row.call.name : nullptr, object_of(facts), facts.target, row.whole};
}

// For marks: whom it waits for, or for how many requests; and where.
inline int marked_peer(const Row &row, const Facts &facts) {
    return row.call.of_requests ? facts.requests : facts.peer;
}
inline std::uint64_t marked_group(const Row &row, const Facts &facts) {
    return row.call.of_requests ? handle_bits(facts.handles) : group_of(object_of(facts));
}

// A message to or from nobody never blocks, and bare MPI knows what its status is.
inline bool is_to_nobody(const Row &row, const Facts &facts) {
    return row.notice != Notice::none && row.has_peer && facts.peer == MPI_PROC_NULL;
}

// The form of a collective call decides its name in reports: the non-blocking form meets no
// blocking call, where there may be such.
inline const char *collective_name(const Row &row, CollectiveForm form, bool crowded) {
    return form == CollectiveForm::nonblocking && !crowded ? row.name_in_task : row.call.name;
}

// The message was started: tells the crowd (crowd/rings.h). `request`: what came of it.
template <class C>
void ring_peer(const Facts &facts, int error, const MPI_Request *request) {
    if constexpr (!C::row.has_peer)
        return;
    else if constexpr (C::row.notice == Notice::send)
        rings(comm_of(facts), facts.peer, facts.count, facts.type, error,
              C::row.at_once ? request : nullptr);
    else
        awaits(comm_of(facts), facts.peer, facts.count, facts.type, error);
}

// Start the message. The facts are found here: if they were given, they would have to be in memory,
// on the way of every message.
template <class C>
int start_message(const C &call, MPI_Request *request) {
    const int error = call.start(request);
    ring_peer<C>(call.facts(), error, request);
    return error;
}

// Optional members.
template <class C>
MPI_Status *status_of(C &call) {
    if constexpr (requires { call.received(); })
        return call.received();
    else
        return MPI_STATUS_IGNORE;
}
template <class C>
std::int64_t volume_of(const C &call) {
    if constexpr (requires { call.volume(); })
        return call.volume();
    else
        return 0;
}
template <class C>
bool has_twin(const C &call) {
    if constexpr (requires { call.has_twin(); })
        return call.has_twin();
    else
        return true;
}

} // namespace sennit::mpi
