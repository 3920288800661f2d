// SPDX-License-Identifier: Apache-2.0
// What the wrappers themselves keep.
#pragma once

#include "mpi/wrap/answers.h"
#include "mpi/wrap/collectives.h"
#include "mpi/wrap/users.h"

namespace sennit::mpi {

// One for each MPI library in the process.
struct Wrap {
    Users users;
    Collectives collectives;
    Answers answers;
};

#pragma GCC visibility push(hidden)
extern constinit Wrap g_wrap;
#pragma GCC visibility pop

} // namespace sennit::mpi
