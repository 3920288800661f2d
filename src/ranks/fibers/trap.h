// SPDX-License-Identifier: Apache-2.0
// What takes a fiber from its carrier against its will.
//
// A system call. On a carrier the kernel lets only the system calls of call.cpp through (syscall
// user dispatch, prctl(2)). In place of any other it sends SIGSYS. The handler of SIGSYS makes a
// few calls itself, those that do the same from every thread of an address space. For any other
// call it saves the whole state of the fiber, as the kernel has laid it out for the signal, and
// leaves for the carrier's own flow. The home thread then returns from that signal in place of the
// carrier, and executes the instruction again. A fault is treated in the same way.
//
// SIGURG. It asks a carrier to look at its fiber: other fibers have been ready for long, or the
// rank has got a signal, or has ended. It may come between any two instructions of the rank, as the
// kernel's own preemption may. That is safe, for ranks share no lock of libc or of the MPI, except
// locks that are made for processes.
#pragma once

#include "ranks/fibers/carrier.h"
#include "ranks/fibers/rank_fiber.h"

namespace sennit::virt {

// Install the handlers. Called once in a process, before the first carrier.
bool set_traps();
// Make the calling thread a carrier: set its signals and their stack, and stop its system calls.
bool begin_traps(Carrier &carrier);

// Prepare a signal's frame for a return on this carrier.
void fit_frame(void *frame, const Carrier &carrier);
// Prepare it for a return on the home thread of the fiber.
void fit_frame(void *frame, const RankFiber &home);

} // namespace sennit::virt
