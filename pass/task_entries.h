// SPDX-License-Identifier: Apache-2.0
// The functions that the compiler has made of OpenMP's tasks: the runtime calls them, with the
// thread's number and the task's memory (its private copies).
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace sennit::pass {

using TaskEntries = llvm::SmallSetVector<llvm::Function *, 16>;

// Those that this file defines and hands to __kmpc_omp_task_alloc: of tasks, taskloops too.
TaskEntries task_entries(llvm::Module &module);

// What an entry has of the task's memory. Null: nothing (flang, where the body uses no variable of
// others).
llvm::Argument *task_memory(llvm::Function &entry);

} // namespace sennit::pass
