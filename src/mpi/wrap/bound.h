// SPDX-License-Identifier: Apache-2.0
// TAMPI's calls without a request: as the blocking call, and the task's completion waits. Those
// that are collective are the non-blocking form everywhere.
#pragma once

#include "mpi/call/runtime.h"
#include "mpi/wrap/any_call.h"
#include "mpi/wrap/row.h"

#include <mpi.h>

namespace sennit::mpi {

inline Operation bound_operation(const Row &row, const Facts &facts, int number) {
    Operation operation = operation_of(row, facts, number);
    operation.name = row.bound_name;
    operation.type = type_bits(facts);
    return operation;
}

// `blocking`: the call that blocks, as it is exported.
template <class C, auto blocking, class... Arguments>
int bound(Arguments... arguments) {
    C call{arguments...};
    if constexpr (C::row.kind == CallKind::collective) {
        return bind_any_collective(AnyCall(call));
    } else {
        const Facts facts = call.facts();
        if (!in_task(is_to_nobody(C::row, facts)))
            return blocking(arguments...);
        return bind_message(bound_operation(C::row, facts, facts.tag), status_of(call),
                            AnyStart(call));
    }
}

} // namespace sennit::mpi
