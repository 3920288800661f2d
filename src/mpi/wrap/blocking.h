// SPDX-License-Identifier: Apache-2.0
// What a call that may block does where there is something to attend to, by kind.
#pragma once

#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/crowd/rings.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/continuations.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/any_call.h"
#include "mpi/wrap/row.h"

#include <mpi.h>

namespace sennit::mpi {

// The thread makes the call, and blocks.
template <class C>
int block(C &call, const Facts &facts) {
    const Blocking mark(C::row.call, marked_peer(C::row, facts), facts.tag,
                        marked_group(C::row, facts));
    return call.bare();
}

template <class C>
Path path_of(const Facts &facts) {
    return path_of_call(C::row.notice, is_to_nobody(C::row, facts));
}

// The arguments are in memory for `start`. Nor are they in registers before, or these would be
// saved in each call: so nothing is known of them after the first line, and facts are found where
// they are needed.
template <class C>
[[gnu::always_inline]] inline int attend_start(C &call) {
    asm("" : "+m"(call));
    // NOLINTNEXTLINE(misc-const-correctness): a call with a status changes it
    Traced traced([&] { return call_facts(C::row, call.facts()); },
                  [&] { return bytes_of(call.facts()); });
    if constexpr (requires { call.received(); })
        traced.replace(call.received());
    const Path path = path_of<C>(call.facts());
    if (is_as_written(path))
        return block(call, call.facts());
    Attempt attempt{.path = path};
    const auto start = [&](MPI_Request *request) { return start_message(call, request); };
    const bool tries = Attempt::is_allowed(C::row.notice, call.facts().count);
    if (tries && attempt.is_over(C::row.notice, start, status_of(call))) [[likely]]
        return attempt.error;
    const Facts facts = call.facts();
    Operation operation = operation_of(C::row, facts, facts.tag, attempt.path);
    operation.type = type_bits(facts);
    return tries ? go_on(attempt, operation, status_of(call))
                 : start_any(operation, status_of(call), AnyStart(call));
}

// A wait for the program's requests: some may be continuation requests.
template <class C>
[[gnu::always_inline]] inline int attend_wait(C &call) {
    const Facts facts = call.facts();
    const Traced traced([&] { return call_facts(C::row, facts); }, [] { return std::uint64_t{0}; });
    const Completions completions(g_record.requests, facts.requests, facts.handles);
    const auto over = [&](int *flag) { return call.test(flag); };
    if (g_extensions.continuations.any() && !inside_mpi())
        return wait_attending(operation_of(C::row, facts, facts.tag, path_of_wait()), C::row.all,
                              facts.requests, facts.handles, call.statuses(), over);
    const Path path = path_of_call();
    if (is_as_written(path))
        return block(call, facts);
    const Operation operation = operation_of(C::row, facts, facts.tag, path);
    if (const int error = g_chaos.failure(operation))
        return error;
    return poll_and_wait(operation, over);
}

template <class C>
[[gnu::always_inline]] inline int attend_poll(C &call) {
    const Facts facts = call.facts();
    const Traced traced([&] { return call_facts(C::row, facts); }, [&] { return bytes_of(facts); });
    const Path path = path_of<C>(facts);
    if (is_as_written(path))
        return block(call, facts);
    const Operation operation = operation_of(C::row, facts, facts.tag, path);
    if (const int error = g_chaos.failure(operation))
        return error;
    return poll_and_wait(operation, [&](int *flag) { return call.test(flag); });
}

} // namespace sennit::mpi
