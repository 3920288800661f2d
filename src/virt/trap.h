// SPDX-License-Identifier: Apache-2.0
// What takes a fiber from its worker against its will. On a worker the kernel lets no system call
// through but from call.cpp (syscall user dispatch, prctl(2)): it sends SIGSYS in place of it. Its
// handler makes the few calls itself that are the same from every thread of an address space; for
// any other call, and for a fault, it saves the whole state of the fiber, as the kernel has laid it
// out for the signal, and leaves for the worker's own flow. The home thread returns from that
// signal in its place, and the instruction is executed again.
//
// SIGURG asks a worker to look at its fiber: others have been ready for long, or the rank has got a
// signal, or has ended. That may be between any two instructions of the rank, as the kernel's own
// preemption is: no lock of libc or of the MPI is shared between ranks but those that are made for
// processes.
#pragma once

#include "virt/rank_fiber.h"
#include "virt/worker.h"

namespace sennit::virt {

// Once a process, before the first worker: the handlers are the process's.
bool set_traps();
// The calling thread becomes a worker: its signals, its stack for them, and no more system calls.
bool begin_traps(Worker &worker);

// A signal's frame is about to be returned from on this worker.
void fit_frame(void *frame, const Worker &worker);
// On the home thread of the fiber.
void fit_frame(void *frame, const RankFiber &home);

} // namespace sennit::virt
