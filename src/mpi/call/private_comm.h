// SPDX-License-Identifier: Apache-2.0
// A communicator of our own, made by all ranks in MPI_Init.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// Duplicates MPI_COMM_WORLD. Where some ranks do not take part, because `setting` is not theirs,
// the job ends with one line after `patience_s` seconds and does not hang. Ranks leave the bare
// MPI_Init about together, unless they outnumber cores.
bool make_private_comm(MPI_Comm *copy, const char *setting, int patience_s = 10);

} // namespace sennit::mpi
