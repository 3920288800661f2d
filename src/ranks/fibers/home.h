// SPDX-License-Identifier: Apache-2.0
// The functions that a rank's flow calls (rank_fiber.h), and a fiber's way from home and back. This
// code runs with the rank's thread pointer.
//
// While the fiber is away, its home thread is parked. It has all signals blocked, and sits in a
// system call that takes any signal off the queue. So it notices a signal, and no handler runs
// beside the fiber. When it is the fiber again, it sends the signal to itself once more.
#pragma once

#include "ranks/fibers/rank_fiber.h"

#include <string>

namespace sennit::virt {

extern const RankFiberCalls g_rank_fiber_calls;

// A carrier has left the fiber, and does not come back to it: wake its home thread, which goes on
// as the fiber.
void return_home(RankFiber &fiber);

// The calling kernel thread is about to run the fiber, or runs it no more (work_clock.h).
void come_to_thread(RankFiber &fiber);
void leave_thread(RankFiber &fiber);

// Can there be rank fibers on this machine?

// The reason why there can be none, as a line for people. Empty: there can be rank fibers.
std::string impediment();

// The same for a machine whose AT_HWCAP2 is `features`. `dispatches`: its kernel can dispatch
// system calls to the user's code.
std::string impediment_of(unsigned long features, bool dispatches);

} // namespace sennit::virt
