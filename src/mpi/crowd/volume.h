// SPDX-License-Identifier: Apache-2.0
// How much a collective call moves at this rank, in bytes: what tells whether the ranks have to
// answer each other many times (neighbours.h). The wrappers know which arguments count: some are
// significant at the root alone, or may be MPI_IN_PLACE (generate.py). MPI has accepted them.
#pragma once

#include "mpi/crowd/crowd.h"
#include "mpi/crowd/length.h"

#include <algorithm>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// Those that this rank exchanges with: of the other group, if there are two.
inline int partners_of(MPI_Comm comm) {
    const Ranks *const ranks = g_crowd.neighbours.ranks_of(comm);
    return ranks ? ranks->size : 1;
}

inline std::int64_t times(std::int64_t bytes, int partners) {
    return bytes > kLengthUnlimited / partners ? kLengthUnlimited : bytes * partners;
}

// The same with each partner.
inline std::int64_t volume_of_all(std::int64_t count, MPI_Datatype type, MPI_Comm comm) {
    return times(std::max<std::int64_t>(message_length(count, type), 0), partners_of(comm));
}

// With each partner its own. `Count` is int or MPI_Count.
template <class Count>
std::int64_t volume_of_each(const Count *counts, MPI_Datatype type, MPI_Comm comm) {
    std::int64_t all = 0;
    for (int i = partners_of(comm) - 1; i >= 0; --i)
        all += counts[i];
    return message_length(all, type);
}
template <class Count>
std::int64_t volume_of_each(const Count *counts, const MPI_Datatype *types, MPI_Comm comm) {
    std::int64_t all = 0;
    for (int i = partners_of(comm) - 1; i >= 0; --i)
        all += message_length(counts[i], types[i]);
    return all;
}

// Of a call with a root: what the root moves, or one of the others.
template <class AtRoot, class Elsewhere>
std::int64_t volume_by_root(int root, MPI_Comm comm, AtRoot at_root, Elsewhere elsewhere) {
    if (root == MPI_PROC_NULL)
        return 0; // in the root's group, but not the root
    const Ranks *const ranks = g_crowd.neighbours.ranks_of(comm);
    return root == MPI_ROOT || (ranks && ranks->own == root) ? at_root() : elsewhere();
}

} // namespace sennit::mpi
