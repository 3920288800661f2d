// SPDX-License-Identifier: Apache-2.0
#include "task_entries.h"

#include "llvm/IR/InstrTypes.h"

namespace sennit::pass {

TaskEntries task_entries(llvm::Module &module) {
    constexpr unsigned kEntry = 5; // the argument of __kmpc_omp_task_alloc
    TaskEntries entries;
    llvm::Function *makes = module.getFunction("__kmpc_omp_task_alloc");
    if (!makes)
        return entries;
    for (llvm::User *user : makes->users()) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(user);
        if (!call || call->getCalledFunction() != makes || call->arg_size() <= kEntry)
            continue;
        auto *entry =
            llvm::dyn_cast<llvm::Function>(call->getArgOperand(kEntry)->stripPointerCasts());
        if (entry && !entry->isDeclaration())
            entries.insert(entry);
    }
    return entries;
}

llvm::Argument *task_memory(llvm::Function &entry) {
    constexpr unsigned kMemory = 1; // behind the thread's number
    return entry.arg_size() > kMemory ? entry.getArg(kMemory) : nullptr;
}

} // namespace sennit::pass
