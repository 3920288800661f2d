// SPDX-License-Identifier: Apache-2.0
// The wrapper of a call: which way it goes. What is to be done on the way of those that are
// attended to is in blocking.h, collective.h and nonblocking.h.
#pragma once

#include "base/compiler.h"
#include "mpi/call/call_path.h"
#include "mpi/call/thread_state.h"
#include "mpi/engine/engine.h"
#include "mpi/record/record.h"
#include "mpi/wrap/any_call.h"
#include "mpi/wrap/blocking.h"
#include "mpi/wrap/collective.h"
#include "mpi/wrap/nonblocking.h"
#include "mpi/wrap/row.h"

#include <mpi.h>

namespace sennit::mpi {

template <class C>
[[gnu::always_inline]] inline int attend(C &call) {
    if constexpr (C::row.kind == CallKind::start)
        return attend_start(call);
    else if constexpr (C::row.kind == CallKind::message)
        return attend_message(call);
    else if constexpr (C::row.kind == CallKind::test)
        return attend_test(call);
    else if constexpr (C::row.kind == CallKind::persistent)
        return attend_persistent(call);
    else if constexpr (C::row.kind == CallKind::expose)
        return attend_expose(call);
    else if constexpr (C::row.kind == CallKind::wait)
        return attend_wait(call);
    else if constexpr (C::row.kind == CallKind::poll)
        return attend_poll(call);
    else if constexpr (C::row.adopts)
        return attend_adoption(AnyCall(call), call.made());
    else if constexpr (requires { call.is_local(); })
        return call.is_local() ? attend_local(AnyCall(call)) : attend_delegate(AnyCall(call));
    else if constexpr (C::row.kind == CallKind::delegate)
        return attend_delegate(AnyCall(call));
    else if constexpr (C::row.parts_with_data)
        return attend_collective(call, nullptr);
    else
        return attend_any_collective(AnyCall(call));
}

// Out of line, so that the bare path needs no frame.
template <class C, class... Arguments>
[[gnu::noinline]] int attended(Arguments... arguments) {
    C call{arguments...};
    return attend(call);
}
template <class C, class... Arguments>
[[gnu::noinline]] SENNIT_HOT int attended_often(Arguments... arguments) {
    C call{arguments...};
    return attend(call);
}
template <class C, class... Arguments>
[[gnu::always_inline]] inline int attended_apart(Arguments... arguments) {
    if constexpr (C::row.often)
        return attended_often<C>(arguments...);
    else
        return attended<C>(arguments...);
}

// Where there are no tasks, nothing stands before the bare call but the mark, and no branch is
// taken.
template <class C, class... Arguments>
[[gnu::always_inline]] inline int enter(Arguments... arguments) {
    if constexpr (requires(C call) { call.is_local(); }) // a lock of a window
        g_engine.flushes.count_lock();
    const FirstLook look = first_look();
    if (look == FirstLook::marked && !is_marked()) [[likely]] {
        C call{arguments...};
        if constexpr (C::row.on_file) {
            const Inside inside;
            return call.bare();
        } else {
            const Facts facts = call.facts();
            const int number =
                C::row.counted
                    ? g_record.collectives.count(object_of(facts), C::row.call.name, facts.root)
                    : facts.tag;
            const BlockedMark mark(C::row.call, marked_peer(C::row, facts), number,
                                   marked_group(C::row, facts));
            return call.bare();
        }
    }
    return look == FirstLook::bare ? C{arguments...}.bare() : attended_apart<C>(arguments...);
}

// Other calls that make a request: those without a row, and those that may block, too.
template <class C, class... Arguments>
[[gnu::always_inline]] inline int make_request(Arguments... arguments) {
    C call{arguments...};
    const Facts facts = call.facts();
    int number = facts.tag; // NOLINT(misc-const-correctness): of a collective call another one
    int error = MPI_SUCCESS;
    if constexpr (C::row.sends != Sends::nowhere)
        if (first_look_at_requests() == FirstLook::attended)
            note_if_sends(C::row, facts);
    if constexpr (C::row.kind == CallKind::delegate) {
        error = enter<C>(arguments...);
    } else if constexpr (C::row.counted) {
        number = g_record.collectives.count_unless_inside(object_of(facts), C::row.call.name,
                                                          facts.root);
        if constexpr (requires { call.duplicate(); })
            if (call.duplicate()) // else what the program had there would count as the new one
                *call.duplicate() = MPI_COMM_NULL;
        error = start_behind_turns(object_of(facts), [&] { return call.bare(); });
    } else {
        error = call.bare();
    }
    if constexpr (requires { call.awaits(error); })
        call.awaits(error);
    if constexpr (requires { call.duplicate(); })
        if (error == MPI_SUCCESS && first_look() != FirstLook::bare)
            g_record.communicators.duplicated(C::row.call.name, call.comm, *call.duplicate());
    note_request(call, facts, error, number);
    if constexpr (C::row.stays)
        g_record.remember(error, facts.request);
    return error;
}

// The wrapper of a call.
template <class C, class... Arguments>
[[gnu::always_inline]] inline int wrapped(Arguments... arguments) {
    constexpr CallKind kind = C::row.kind;
    if constexpr (kind == CallKind::request || (kind == CallKind::delegate && C::row.makes_request))
        return make_request<C>(arguments...);
    else if constexpr (kind == CallKind::message)
        return first_look_at_requests() == FirstLook::attended ? attended_apart<C>(arguments...)
                                                               : C{arguments...}.bare();
    else if constexpr (kind == CallKind::test || kind == CallKind::expose)
        return first_look() == FirstLook::attended ? attended_apart<C>(arguments...)
                                                   : C{arguments...}.bare();
    else if constexpr (kind == CallKind::persistent)
        return inside_mpi() ? C{arguments...}.bare() : attended_apart<C>(arguments...);
    else if constexpr (requires(C call) { call.makes(); }) {
        const int error = enter<C>(arguments...);
        if (error == MPI_SUCCESS && first_look() != FirstLook::bare)
            g_record.communicators.made(C::row.call.name, *C{arguments...}.makes());
        return error;
    } else
        return enter<C>(arguments...);
}

} // namespace sennit::mpi
