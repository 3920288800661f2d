// SPDX-License-Identifier: Apache-2.0
// Tied tasks that do not notice which thread they run on, and so may go on on another one once they
// were suspended (SENNIT_UNTIED=anywhere). What proves it: nothing that the task's code and all
// functions below it use belongs to a thread.
//
//   - no thread-local variable, nor its address, and no call that may give one (errno);
//   - no call that asks for the thread (its number, pthread_self), and no assembly code;
//   - only functions of the same file, and of libraries those that this room knows: MPI's, OpenMP's
//     for tasks and critical sections, C's for mathematics, memory and output.
//
// A function that does not wait could use them, too. But compilers keep such addresses across
// calls, and put functions into others: so none does.
//
// A task that may is told by a bit of __kmpc_omp_task_alloc's flags, which other runtimes ignore.
#pragma once

#include "remarks.h"
#include "task_entries.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace sennit::pass {

// Has the module changed?
bool let_tasks_go_anywhere(llvm::Module &module,
                           llvm::function_ref<Remarks(llvm::Function &)> remarks_of);

} // namespace sennit::pass
