// SPDX-License-Identifier: Apache-2.0
// What interfaces beyond the standard keep.
#pragma once

#include "mpi/extensions/callbacks.h"
#include "mpi/extensions/continuations.h"

#include <atomic>

namespace sennit::mpi {

// One for each MPI library in the process.
struct Extensions {
    Callbacks callbacks;
    Continuations continuations{callbacks};
    std::atomic<bool> automatic{true}; // TAMPI_PROPERTY_AUTO_INIT
};

#pragma GCC visibility push(hidden)
extern constinit Extensions g_extensions;
#pragma GCC visibility pop

} // namespace sennit::mpi
