// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// Does the program want no status?
inline bool is_ignored(const MPI_Status *statuses) {
    // MPICH has one value for both.
    const MPI_Status *const none[] = {MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE};
    return statuses == none[0] || statuses == none[1];
}

} // namespace sennit::mpi
