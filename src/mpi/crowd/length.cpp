// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/length.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

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

} // namespace sennit::mpi
