// SPDX-License-Identifier: Apache-2.0
// How long a message is. What is long is sent in pieces, and each side waits for the other's
// answers (neighbours.h). A count alone does not tell: one element of a derived type may be
// anything.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// More than MPI libraries send at once, be it only beside a header.
constexpr std::int64_t kMaybeLong = 2048; // bytes

// -1 without a count. The caller need not be inside MPI; `type` is one that MPI has accepted.
std::int64_t message_length(std::int64_t count, MPI_Datatype type);

} // namespace sennit::mpi
