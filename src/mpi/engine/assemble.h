// SPDX-License-Identifier: Apache-2.0
// Make a collective call without messages (crowd/assembled.h). As in every call, the task is
// suspended and other threads poll.
#pragma once

#include "mpi/call/operation.h"
#include "mpi/crowd/assembled.h"

namespace sennit::mpi {

int assemble(Operation operation, const Reduction &reduction);

} // namespace sennit::mpi
