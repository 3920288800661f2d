// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/any_call.h"

#include "base/compiler.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/record/traced.h"
#include "mpi/wrap/collective.h"

namespace sennit::mpi {
namespace {

// The thread makes the call, and blocks.
int block(const AnyCall &call, int number) {
    const Facts &facts = call.facts();
    if (call.row.on_file) {
        const Inside inside;
        return call.bare();
    }
    const Blocking mark(call.row.call, facts.peer, number, group_of(facts.object));
    return call.bare();
}

} // namespace

int attend_delegate(const AnyCall &call, Adoption *adoption) {
    const Facts &facts = call.facts();
    const Traced traced([&] { return call_facts(call.row, facts); },
                        [&] { return bytes_of(facts); });
    const int number =
        call.row.counted
            ? g_record.collectives.count_unless_inside(facts.object, call.row.call.name, facts.root)
            : facts.tag;
    const Path path = without_twin(path_of_call(call.row.notice));
    if (is_as_written(path))
        return block(call, number);
    const Operation operation = operation_of(call.row, facts, number, path);
    note_if_sends(call.row, facts);
    if (const int error = g_chaos.failure(operation))
        return error;
    if (adoption)
        return delegate(adoption->gathering(operation),
                        [&] { return adoption->hold([&] { return call.bare(); }); });
    return delegate(operation, [&] { return call.bare(); }, same_call(call.row, facts));
}

int attend_local(const AnyCall &call) {
    const Facts &facts = call.facts();
    const Traced traced([&] { return call_facts(call.row, facts); },
                        [&] { return bytes_of(facts); });
    const Path path = without_twin(path_of_call(call.row.notice));
    if (is_as_written(path))
        return block(call, facts.tag);
    if (const int error = g_chaos.failure(operation_of(call.row, facts, facts.tag, path)))
        return error;
    return outside_task([&] { return call.bare(); });
}

SENNIT_HOT int attend_any_collective(const AnyCall &call, Adoption *adoption) {
    return attend_collective(call, adoption);
}

int attend_adoption(const AnyCall &call, const MPI_Comm *made) {
    Adoption adoption(call.row.call.name, comm_of(call.facts()), !call.has_twin());
    const int error = call.row.kind == CallKind::collective ? attend_any_collective(call, &adoption)
                                                            : attend_delegate(call, &adoption);
    adoption.end(error == MPI_SUCCESS ? *made : MPI_COMM_NULL);
    return error;
}

int bind_any_collective(const AnyCall &call) {
    const Facts &facts = call.facts();
    const int number =
        g_record.collectives.count_unless_inside(facts.object, call.row.twin_name, facts.root);
    const bool binds = in_task();
    Operation operation =
        bound_operation(call.row, facts, number, binds ? Path::suspends : path_outside());
    const auto start = [&](MPI_Request *request) {
        const int error = call.start(request);
        operation.bytes =
            rings_partners(comm_of(facts), facts.root, error, [&] { return call.volume(); });
        return error;
    };
    if (operation.path == Path::blocks)
        return start_and_block(operation, start);
    if (!binds)
        return start_and_wait(operation, MPI_STATUS_IGNORE, start);
    if (const int error = g_chaos.failure(operation))
        return error;
    return start_and_bind(operation, MPI_STATUS_IGNORE, start);
}

SENNIT_HOT int start_any(const Operation &operation, MPI_Status *status, AnyStart start) {
    if (const int error = g_chaos.failure(operation))
        return error;
    return start_and_wait(operation, status, start);
}

int bind_message(const Operation &operation, MPI_Status *status, AnyStart start) {
    if (const int error = g_chaos.failure(operation))
        return error;
    return start_and_bind(operation, status, start);
}

} // namespace sennit::mpi
