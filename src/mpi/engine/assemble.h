// SPDX-License-Identifier: Apache-2.0
// A collective call without messages (crowd/assembled.h): a task is suspended in it, other threads
// poll, as in every call.
#pragma once

#include "mpi/call/operation.h"
#include "mpi/crowd/assembled.h"

namespace sennit::mpi {

int assemble(Operation operation, const Reduction &reduction);

} // namespace sennit::mpi
