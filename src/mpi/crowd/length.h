// SPDX-License-Identifier: Apache-2.0
// How long a message is. MPI sends a long message in pieces, and each side waits for the other's
// answers (neighbours.h). A count alone does not tell the length: one element of a derived type may
// have any size.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// More than MPI libraries send at once, be it only beside a header.
constexpr std::int64_t kMaybeLong = 2048; // bytes

// The length in bytes, or -1 without a count. The caller need not be inside MPI. MPI has accepted
// `type`.
std::int64_t message_length(std::int64_t count, MPI_Datatype type);

} // namespace sennit::mpi
