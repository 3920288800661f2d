// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/length.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/crowd/crowd.h"

#include <algorithm>

namespace sennit::mpi {
namespace {

// Of the types that most messages consist of; 0: MPI has to be asked.
int size_of_common(MPI_Datatype type) {
    if (type == MPI_DOUBLE)
        return sizeof(double);
    if (type == MPI_INT)
        return sizeof(int);
    if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_PACKED)
        return 1;
    if (type == MPI_FLOAT)
        return sizeof(float);
    if (type == MPI_LONG)
        return sizeof(long);
    return 0;
}

} // namespace

bool is_common(MPI_Datatype type) {
    return size_of_common(type) != 0;
}

SENNIT_HOT std::int64_t message_length(std::int64_t count, MPI_Datatype type) {
    static constexpr auto type_size = SENNIT_BARE(Type_size_x); // the other knows no 2 GiB
    if (count <= 0)
        return count;
    MPI_Count size = size_of_common(type);
    if (size == 0 && type != MPI_DATATYPE_NULL)
        outside_task([&] { return type_size(type, &size); });
    return size <= 0 ? 0 : size > kLengthUnlimited / count ? kLengthUnlimited : count * size;
}

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
