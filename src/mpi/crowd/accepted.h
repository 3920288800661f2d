// SPDX-License-Identifier: Apache-2.0
// Would MPI accept a datatype of the program's? Ranks that must decide alike ask, before they make
// a call without MPI: only some of them would give MPI the type then, and learn what is wrong.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

// Not one that is not committed, say. The program is not told.
bool is_accepted(MPI_Datatype type);
// `ours`: our communicator. From now on errors on it come back.
void ask_on(MPI_Comm ours);

} // namespace sennit::mpi
