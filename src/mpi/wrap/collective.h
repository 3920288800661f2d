// SPDX-License-Identifier: Apache-2.0
// A collective call in a task, or where ranks outnumber cores. Which form it has is decided in one
// place, for all ranks have to decide alike.
#pragma once

#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/quirks/arguments.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/any_call.h"
#include "mpi/wrap/row.h"

#include <mpi.h>
#include <optional>

namespace sennit::mpi {

// What the compiler must know of a call's row; of any call nothing.
template <class C>
constexpr bool kPartsWithData = C::row.parts_with_data;
template <>
inline constexpr bool kPartsWithData<AnyCall> = false;

// The non-blocking form as it is started. It lives until the call is over.
template <class C>
class Started {
  public:
    explicit Started(const C &call) : call_(call) {}
    int operator()(MPI_Request *request) const { return call_.start(request); }

  private:
    const C &call_;
};
template <class C>
    requires kPartsWithData<C>
class Started<C> {
  public:
    explicit Started(const C &call)
        : call_(call),
          sent_(call.sendbuf != MPI_IN_PLACE, call.sendcounts, send_types(call), call.comm),
          received_(true, call.recvcounts, receive_types(call), call.comm) {
        call_.sendcounts = sent_.counts();
        call_.recvcounts = received_.counts();
    }
    int operator()(MPI_Request *request) const { return call_.start(request); }

  private:
    static auto send_types(const C &call) {
        if constexpr (requires { call.sendtypes; })
            return call.sendtypes;
        else
            return call.sendtype;
    }
    static auto receive_types(const C &call) {
        if constexpr (requires { call.recvtypes; })
            return call.recvtypes;
        else
            return call.recvtype;
    }

    C call_;
    PartsWithData<std::remove_cvref_t<decltype(*C::sendcounts)>> sent_;
    PartsWithData<std::remove_cvref_t<decltype(*C::recvcounts)>> received_;
};

// Among the ranks of a node, without messages (assemble.h). No value: MPI makes the call.
template <class C>
std::optional<int> assemble(const C &call, const Operation &operation, LongerCall &longer) {
    if constexpr (requires { call.assemble(operation, longer); })
        return call.assemble(operation, longer);
    else
        return std::nullopt;
}

template <class C>
[[gnu::always_inline]] inline int attend_collective(const C &call, Adoption *adoption) {
    const Facts &facts = call.facts();
    const Traced traced([&] { return call_facts(call.row, facts); },
                        [&] { return bytes_of(facts); });
    const bool crowded = crowds(comm_of(facts));
    note_if_sends(call.row, facts);
    const auto [form, path] = path_of_collective(has_twin(call), crowded);
    const int number = g_record.collectives.count_unless_inside(
        facts.object, collective_name(call.row, form, crowded), facts.root);
    const bool blocking = form == CollectiveForm::blocking;
    if (blocking && is_as_written(path)) {
        const Blocking mark(call.row.call, facts.peer, number, group_of(facts.object));
        return call.bare();
    }
    Operation operation = operation_of(call.row, facts, number, path);
    LongerCall longer;
    const Started<C> started(call);
    const auto start = [&](MPI_Request *request) {
        const int error = started(request);
        longer.started(error);
        operation.bytes =
            rings_partners(comm_of(facts), facts.root, error, [&] { return volume_of(call); });
        return error;
    };
    if (path == Path::blocks)
        return start_and_block(operation, start);
    if (const int error = g_chaos.failure(operation))
        return error;
    if (crowded)
        if (const std::optional<int> error = assemble(call, operation, longer))
            return *error;
    if (blocking)
        return delegate(adoption ? adoption->gathering(operation) : operation,
                        [&] { return call.bare(); });
    return call.row.alone ? start_and_wait_alone(operation, MPI_STATUS_IGNORE, start)
                          : start_and_wait(operation, MPI_STATUS_IGNORE, start);
}

} // namespace sennit::mpi
