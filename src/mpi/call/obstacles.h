// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace sennit::mpi {

// Why a blocking call in a task may not simply be tried (engine/attempt.h): sends are queued, which
// another must not overtake; faults are to be injected. A count of reasons.
#pragma GCC visibility push(hidden)
extern constinit std::atomic<int> g_obstacles;
#pragma GCC visibility pop

} // namespace sennit::mpi
