// SPDX-License-Identifier: Apache-2.0
// What a call that does not block does where there is something to attend to, by kind.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/runtime.h"
#include "mpi/crowd/rings.h"
#include "mpi/engine/engine.h"
#include "mpi/record/record.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/row.h"

#include <mpi.h>

namespace sennit::mpi {

// Both sends and receives, by one request.
template <class C>
concept Exchange = requires(C call) {
    call.dest;
    call.source;
};

template <class C>
std::uint64_t received_bytes(const C &call) {
    if constexpr (requires { call.recvcount; })
        return message_bytes(call.recvcount, call.recvtype);
    else
        return message_bytes(call.count, call.datatype);
}

// What the call's request is about, if the call has made one. `number`: of a collective call, else
// its tag.
template <class C>
void note_request(const C &call, const Facts &facts, int error, int number) {
    if constexpr (Exchange<C>)
        g_record.requests.note(error, facts.request,
                               {&C::row.call, call.source, call.recvtag, group_of(object_of(facts)),
                                call.dest, call.sendtag});
    else if constexpr (C::row.makes_request)
        g_record.requests.note(
            error, facts.request,
            {&C::row.call,
             C::row.kind == CallKind::request && C::row.counted ? facts.root : facts.peer, number,
             group_of(object_of(facts)), -1, -1, facts.parts});
}

// The runtime's policies are told of sends. Without tasks, no more is to be done than to note the
// request.
template <class C>
[[gnu::always_inline]] inline int attend_message(C &call) {
    const Facts facts = call.facts();
    if (first_look() == FirstLook::marked) {
        const int error = call.bare();
        note_request(call, facts, error, facts.tag);
        return error;
    }
    if constexpr (C::row.notice == Notice::send)
        g_engine.begin_send(facts.peer, facts.tag, object_of(facts));
    const int error = outside_task([&] { return call.bare(); });
    ring_peer<C>(call.facts(), error, facts.request);
    note_request(call, facts, error, facts.tag);
    g_record.timeline.post(call_facts(C::row, facts), facts.request,
                           [&] { return bytes_of(call.facts()); });
    if constexpr (Exchange<C>)
        g_record.timeline.post({.name = C::row.call.name,
                                .direction = SENNIT_NOTICE_RECEIVE,
                                .peer = call.source,
                                .tag = call.recvtag,
                                .object = object_of(facts)},
                               facts.request, [&] { return received_bytes(call); });
    return error;
}

// A test that finds nothing, again and again, must not keep the thread from tasks that are
// suspended on it. One that finds a message which nobody else can receive any more is on the
// timeline.
template <class C>
[[gnu::always_inline]] inline int attend_test(C &call) {
    constexpr bool receives = requires { call.received(); };
    [[maybe_unused]] MPI_Status own; // NOLINT(misc-const-correctness): of one that receives
    if constexpr (receives)
        if (g_record.timeline.on() && call.received() == MPI_STATUS_IGNORE)
            call.received() = &own;
    const int error = outside_task([&] { return call.bare(); });
    has_called_mpi();
    if (error != MPI_SUCCESS)
        return error;
    if (*call.flag == 0)
        note_test_in_vain();
    else if constexpr (receives)
        if (g_record.timeline.on())
            trace_found(call_facts(C::row, call.facts()), *call.received());
    return error;
}

template <class C>
[[gnu::always_inline]] inline int attend_expose(C &call) {
    note_if_sends(C::row, call.facts());
    return outside_task([&] { return call.bare(); });
}

// What MPI_Start will not say, and who detaches a request has to know.
template <class C>
[[gnu::always_inline]] inline int attend_persistent(C &call) {
    const Facts facts = call.facts();
    const int error = outside_task([&] { return call.bare(); });
    if (error == MPI_SUCCESS) {
        CallFacts starts = call_facts(C::row, facts);
        starts.name = "MPI_Start";
        g_record.remember(C::row.notice, starts, *facts.request, [&] { return bytes_of(facts); });
    }
    note_request(call, facts, error, facts.tag);
    return error;
}

} // namespace sennit::mpi
