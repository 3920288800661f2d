// SPDX-License-Identifier: Apache-2.0
// A blocking send or receive that is the last thing a task does becomes its request-free form: it
// returns at once, and the task's completion waits for the operation (task-aware MPI, section 6.2).
// No task is suspended, no stack is kept.
//
// The body then returns while the message is under way. Nobody can tell, if
//   - the buffer outlives the body, and nobody wants the status or the error code;
//   - on no path behind the call the body touches the buffer (of a send: writes it), or does what
//     other threads or ranks could see: calls, atomic operations, fences, volatile accesses;
//   - but for other calls of this kind. These are posted in the same order. Nothing crosses a
//     receive: a send might tell others that it has come, and another receive might write what they
//     may touch until then (a window, memory that processes share). Nothing crosses a synchronous
//     send.
// What others may see of a task is its end: dependences, taskwait and barriers wait for the
// message.
#pragma once

#include "aliases.h"
#include "remarks.h"

#include "llvm/IR/Function.h"

namespace sennit::pass {

// All such calls of a task's entry function. Has it changed?
bool bind_tail_calls(llvm::Function &entry, Aliases &aliases, Remarks &remarks);

} // namespace sennit::pass
