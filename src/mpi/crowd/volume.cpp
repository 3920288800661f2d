// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/volume.h"

#include "mpi/crowd/crowd.h"

#include <algorithm>

namespace sennit::mpi {
namespace {

int partners_of(MPI_Comm comm) {
    const Ranks *const ranks = g_crowd.neighbours.ranks_of(comm);
    return ranks ? ranks->size : 1;
}

} // namespace

std::int64_t volume_of_all(std::int64_t count, MPI_Datatype type, MPI_Comm comm) {
    const std::int64_t bytes = std::max<std::int64_t>(message_length(count, type), 0);
    const int partners = partners_of(comm);
    return bytes > kLengthUnlimited / partners ? kLengthUnlimited : bytes * partners;
}

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

template std::int64_t volume_of_each(const int *, MPI_Datatype, MPI_Comm);
template std::int64_t volume_of_each(const MPI_Count *, MPI_Datatype, MPI_Comm);
template std::int64_t volume_of_each(const int *, const MPI_Datatype *, MPI_Comm);
template std::int64_t volume_of_each(const MPI_Count *, const MPI_Datatype *, MPI_Comm);

Part part_of(int root, MPI_Comm comm) {
    if (root == MPI_PROC_NULL)
        return Part::none; // in the root's group, but not the root
    const Ranks *const ranks = g_crowd.neighbours.ranks_of(comm);
    return root == MPI_ROOT || (ranks && ranks->own == root) ? Part::root : Part::other;
}

} // namespace sennit::mpi
