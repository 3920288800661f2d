// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sennit::mpi {

// Open MPI (seen with 4.1) loads what it needs for topologies and files in the first call that
// needs it, and two first calls at once crash it: so the first is made here, before any helper's.
void load_lazy_parts();

} // namespace sennit::mpi
