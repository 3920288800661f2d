// SPDX-License-Identifier: Apache-2.0
// A call whose type does not matter any more. Where a call waits for other ranks or for a helper
// thread, what surrounds the MPI's call is compiled once for all calls of its kind.
#pragma once

#include "mpi/call/runtime.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/wrap/assemble.h"
#include "mpi/wrap/row.h"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace sennit::mpi {

class AnyCall {
  public:
    // `call` outlives it.
    template <class C>
    explicit AnyCall(const C &call)
        : row(C::row), facts_(call.facts()), call_(&call), members_(kMembers<C>) {}
    AnyCall(const AnyCall &) = delete;
    AnyCall &operator=(const AnyCall &) = delete;

    const Row &row;
    const Facts &facts() const { return facts_; }
    int bare() const { return members_.bare(call_); }
    // Of a collective call; one that is delegated has no twin.
    int start(MPI_Request *request) const { return members_.start(call_, request); }
    std::int64_t volume() const { return members_.volume(call_); }
    bool has_twin() const { return members_.has_twin && members_.has_twin(call_); }
    std::optional<int> assemble(const Operation &operation, LongerCall &longer) const {
        return members_.assemble ? members_.assemble(call_, operation, longer) : std::nullopt;
    }

  private:
    struct Members {
        int (*bare)(const void *call);
        int (*start)(const void *call, MPI_Request *request) = nullptr;
        std::int64_t (*volume)(const void *call) = nullptr;
        bool (*has_twin)(const void *call) = nullptr;
        std::optional<int> (*assemble)(const void *call, const Operation &operation,
                                       LongerCall &longer) = nullptr;
    };
    template <class C>
    static constexpr Members members_of() {
        Members members{[](const void *call) {
            if constexpr (requires { &C::bare_for_task; })
                return static_cast<const C *>(call)->bare_for_task();
            else
                return static_cast<const C *>(call)->bare();
        }};
        if constexpr (C::row.kind == CallKind::collective) {
            members.start = [](const void *call, MPI_Request *request) {
                return static_cast<const C *>(call)->start(request);
            };
            members.volume = [](const void *call) {
                return volume_of(*static_cast<const C *>(call));
            };
            members.has_twin = [](const void *call) {
                return mpi::has_twin(*static_cast<const C *>(call));
            };
        }
        if constexpr (C::row.assembles != Assembles::nothing)
            members.assemble = [](const void *call, const Operation &operation,
                                  LongerCall &longer) {
                return assemble_if_short(*static_cast<const C *>(call), operation, longer);
            };
        return members;
    }
    template <class C>
    static constexpr Members kMembers = members_of<C>();

    const Facts facts_;
    const void *const call_;
    const Members &members_;
};

// What a task does in place of the call. `adoption`: of a call that makes a communicator, or null.
int attend_delegate(const AnyCall &call, Adoption *adoption = nullptr);
// The same of a call that waits for nobody, by what its arguments say.
int attend_local(const AnyCall &call);
int attend_any_collective(const AnyCall &call, Adoption *adoption = nullptr);
// A call that makes a communicator: how calls on the new one are made is agreed on then.
int attend_adoption(const AnyCall &call, const MPI_Comm *made);
int bind_any_collective(const AnyCall &call);

// How a message is started, whichever call does it.
class AnyStart {
  public:
    // `call` outlives it.
    template <class C>
    explicit AnyStart(const C &call)
        : call_(&call), start_([](const void *own, MPI_Request *request) {
              return start_message(*static_cast<const C *>(own), request);
          }) {}
    int operator()(MPI_Request *request) const { return start_(call_, request); }

  private:
    const void *call_;
    int (*start_)(const void *call, MPI_Request *request);
};

// The message of a call that could not be tried.
int start_any(const Operation &operation, MPI_Status *status, AnyStart start);
// Start the message, and let the task's completion wait for it.
int bind_message(const Operation &operation, MPI_Status *status, AnyStart start);

// TAMPI's calls without a request: as the blocking call, and the task's completion waits. Those
// that are collective are the non-blocking form everywhere.
inline Operation bound_operation(const Row &row, const Facts &facts, int number, Path path) {
    Operation operation = operation_of(row, facts, number, path);
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
        return bind_message(bound_operation(C::row, facts, facts.tag, Path::suspends),
                            status_of(call), AnyStart(call));
    }
}

} // namespace sennit::mpi
