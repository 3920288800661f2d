// SPDX-License-Identifier: Apache-2.0
// What a rank's flow calls (rank_fiber.h), and the way from home and back. Runs with the rank's
// thread pointer.
//
// The home thread is parked with all signals blocked, in a system call that takes any of them off
// the queue: so a signal is noticed, and no handler runs beside the fiber. It sends it to itself
// again when it is the fiber once more.
#pragma once

#include "virt/rank_fiber.h"

namespace sennit::virt {

extern const RankFiberCalls g_rank_fiber_calls;

// A worker has left the fiber for good: its home thread is to go on as the fiber.
void return_home(RankFiber &fiber);

} // namespace sennit::virt
