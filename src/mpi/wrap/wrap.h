// SPDX-License-Identifier: Apache-2.0
// What the wrappers themselves keep.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/wrap/collectives.h"
#include "mpi/wrap/file_queue.h"
#include "mpi/wrap/init_finalize.h"

namespace sennit::mpi {

// One for each MPI library in the process.
struct Wrap {
    Users users;
    Collectives collectives;
    Answers answers;
#ifdef MPICH_NUMVERSION
    FileQueue files;
#endif
};

#pragma GCC visibility push(hidden)
extern constinit Wrap g_wrap;
#pragma GCC visibility pop

// For the call that asks for a request and, in MPICH, does nothing for it.
inline void visit_files() {
#ifdef MPICH_NUMVERSION
    if (!g_wrap.files.empty() && !inside_mpi()) [[unlikely]]
        g_wrap.files.work();
#endif
}

} // namespace sennit::mpi
