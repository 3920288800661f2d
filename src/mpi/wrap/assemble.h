// SPDX-License-Identifier: Apache-2.0
// Collectives of a few bytes that the ranks of a node make without messages: see crowd/assembled.h.
// All that is asked here has the same answer on all ranks.
#pragma once

#include "mpi/call/operation.h"
#include "mpi/crowd/assembled.h"
#include "mpi/crowd/crowd.h"
#include "mpi/engine/delegate.h"
#include "mpi/wrap/row.h"

#include <cstddef>
#include <mpi.h>
#include <optional>

namespace sennit::mpi {

// The ranks make the call among themselves, if it fits; returns its error. A longer one is counted.
template <class Call>
std::optional<int> assemble_or_count(MPI_Comm comm, int root, const Operation &operation, Call call,
                                     LongerCall &longer) {
    constexpr std::size_t most = node::Assembly::kMostBytes;
    if (!call.fits(most) && !call.is_longer(most))
        return std::nullopt;
    Assembled *const assembled = g_crowd.assembled_of(comm);
    if (!assembled || (root >= 0 && !assembled->has_member(root)))
        return std::nullopt;
    if (!call.is_longer(most))
        return assemble(*assembled, operation, call);
    longer.begin(*assembled, call.longer_number());
    return std::nullopt;
}
// The same for a root that alone gets the result.
inline std::optional<int> assemble_for_root(MPI_Comm comm, const Operation &operation,
                                            Reduction reduction) {
    if (reduction.root < 0 || !reduction.fits(node::Assembly::kMostBytes))
        return std::nullopt;
    Assembled *const assembled = g_crowd.assembled_of(comm);
    if (!assembled || !assembled->has_member(reduction.root))
        return std::nullopt;
    if (assembled->may_reduce(reduction))
        return assemble(*assembled, operation, reduction);
    if (assembled->is_root(reduction) && lacks_result(reduction))
        take_in_vain(*assembled, operation, reduction);
    return std::nullopt;
}
// Returns the call's error. No value: MPI makes it.
template <class C>
std::optional<int> assemble_if_short(const C &call, const Operation &operation,
                                     LongerCall &longer) {
    constexpr Assembles what = C::row.assembles;
    if constexpr (what == Assembles::barrier) {
        if (Assembled *const assembled = g_crowd.assembled_of(call.comm))
            return assemble(*assembled, operation, Reduction{});
    } else if constexpr (what == Assembles::allreduce) {
        return assemble_or_count(
            call.comm, -1, operation,
            Reduction{call.sendbuf, call.recvbuf, call.count, call.datatype, call.op}, longer);
    } else if constexpr (what == Assembles::reduce) {
        return assemble_for_root(
            call.comm, operation,
            Reduction{call.sendbuf, call.recvbuf, call.count, call.datatype, call.op, call.root});
    } else if constexpr (what == Assembles::bcast) {
        return assemble_or_count(call.comm, call.root, operation,
                                 Broadcast{call.buffer, call.count, call.datatype, call.root},
                                 longer);
    }
    return std::nullopt;
}

} // namespace sennit::mpi
