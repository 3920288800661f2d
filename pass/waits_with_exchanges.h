// SPDX-License-Identifier: Apache-2.0
// A taskwait with dependences right in front of a blocking exchange that needs them:
//
//     #pragma omp taskwait depend(in : x[0])
//     MPI_Send(x, ...);
//
// OpenMP says that such a taskwait is an empty undeferred task. In a program that is compiled with
// -sennit-detach the calls behind it become the body of this task, and then it is what undeferred.h
// is about: deferred, its calls bound to it.
//
// The calls may be one exchange, or several standard sends. Nothing stands between the taskwait and
// the last of them but what computes their arguments. That is done before the taskwait then, so it
// reads only what no task can have written meanwhile (steady.h). Each buffer is what a `depend`
// clause of the taskwait names: so whoever waits for the buffer waits for the message. What is
// received needs `out` or `inout`.
//
// In branches and loops behind the taskwait, too: `if (to != me) MPI_Send(...)`. There each call is
// a task, as if the taskwait stood in front of it. Where none of the calls is come to, nothing is
// waited for then. So this is done only if the function does not use, behind them, what the clauses
// name.
#pragma once

#include "remarks.h"
#include "steady.h"
#include "touches.h"

#include "llvm/IR/Dominators.h"

namespace sennit::pass {

// Before calls are bound: makes tasks of them. Has the function changed?
bool make_tasks_of_waits(llvm::Function &creator, const llvm::DominatorTree &dominators,
                         Steady &steady, Touches &touches, Remarks &remarks);

} // namespace sennit::pass
