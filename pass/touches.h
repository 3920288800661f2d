// SPDX-License-Identifier: Apache-2.0
// What instructions touch: of many tasks of one creator each asks for all that comes behind it, and
// for what is called there. So each instruction is looked at once, and each function of the file.
// What is known of a function is right as long as it is not changed (forget).
#pragma once

#include "task_entries.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace sennit::pass {

// Of one task: what its creator must not touch before the task's messages are complete.
class Guarded {
  public:
    // `objects` may not be used, `variables` may not be changed, and neither may end.
    Guarded(llvm::ArrayRef<const llvm::Value *> objects,
            llvm::ArrayRef<const llvm::Value *> variables);

    using Set = llvm::SmallPtrSet<const llvm::Value *, 8>; // what pointers are based on
    Set objects, variables;
    bool ends_with_function = false; // one of them
};

class Touches {
  public:
    explicit Touches(const TaskEntries &entries) : entries_(entries) {}

    // One that touches something.
    struct One {
        llvm::Instruction *instruction;
        llvm::SmallVector<const llvm::Value *, 2> read, changed; // what pointers are based on
        llvm::SmallVector<const llvm::Function *, 1> called;     // of this file
        bool calls_mpi; // it might match a task's message, or be what others wait for
        bool ends_function;
    };
    // In their order.
    llvm::ArrayRef<One> of(llvm::BasicBlock &block);

    // Does it touch what is guarded, or call a function of this file that does, or that calls MPI?
    // Of other files that is not known. The tasks that such a function makes keep their messages in
    // order, and those that are left as they are wait; but not in one that is not optimized.
    bool is_touched(const One &one, const Guarded &guarded);
    // The same, but for MPI.
    bool is_used(const One &one, const Guarded &guarded);

    void forget(const llvm::Function &changed);

  private:
    struct Sum { // of a function, or of all that it calls, too
        bool calls_mpi = false;
        llvm::SmallPtrSet<const llvm::Value *, 16> read, changed;
        llvm::SmallPtrSet<const llvm::Function *, 4> called;
    };
    One look(llvm::Instruction &instruction) const;
    const Sum &alone(const llvm::Function &function);
    const Sum &with_called(const llvm::Function &function);

    const TaskEntries &entries_;
    llvm::DenseMap<const llvm::BasicBlock *, llvm::SmallVector<One, 0>> blocks_; // of creators
    llvm::DenseMap<const llvm::Function *, Sum> alone_, with_called_;
};

} // namespace sennit::pass
