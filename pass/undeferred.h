// SPDX-License-Identifier: Apache-2.0
// Undeferred tasks that only exchange messages: `#pragma omp task if(0) depend(in : x[0])` around
// MPI_Send. Their creator stands still until the message has come, and makes no other tasks
// meanwhile. In a program that is compiled with -sennit-detach such a task is deferred. Its calls
// are bound to it (tail_binding.h), so its dependences are released when the message has come: the
// graph of tasks is that of detached tasks.
//
// Whoever compiles with the option says that the program is also right without the if clauses. For
// what follows a task may be in another file: its creator's caller, another task. What this file
// shows is looked at all the same:
//
//   - the task has dependences, and does nothing but exchange messages;
//   - messages of the same envelope keep their order. The runtime is told of an envelope as of a
//     dependence (library/detached.h), so what it is has to be known before the task begins;
//   - the creator's function waits before it touches the buffer itself or calls MPI, and before an
//     undeferred task that exchanges messages and is left as it is.
#pragma once

#include "remarks.h"
#include "task_entries.h"
#include "touches.h"

#include "llvm/Analysis/LoopInfo.h"

namespace sennit::pass {

// Is the whole program compiled for it?
bool detaches_undeferred();

// Before anything is inlined: of undeferred tasks the calls of those with messages stay calls.
void keep_undeferred_tasks(const TaskEntries &entries);

// When their calls have been bound. Has the function changed? Then `touches` has to forget it.
bool detach_undeferred_tasks(llvm::Function &creator, const TaskEntries &entries, Touches &touches,
                             const llvm::LoopInfo &loops, Remarks &remarks);

} // namespace sennit::pass
