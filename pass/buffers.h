// SPDX-License-Identifier: Apache-2.0
// Whose memory a message is in: may it be used when the task's body has returned? And may an
// instruction touch it?
#pragma once

#include "aliases.h"
#include "task_entries.h"

#include "llvm/IR/Instructions.h"

#include <string>

namespace sennit::pass {

class Buffers {
  public:
    // In the entry function of a task.
    Buffers(llvm::Function &entry, Aliases &aliases) : entry_(entry), aliases_(aliases) {}

    // Empty: whatever `buffer` points to outlives the body. Else why not.
    std::string ends_with_body(const llvm::Value *buffer) const;

    // Can the two never overlap, whatever their extents, and in whichever rounds of a loop their
    // addresses were computed?
    bool disjoint(const llvm::Value *one, const llvm::Value *other) const;

    // May the call write what the pointer leads to; or, with `reads`, read it?
    bool touched_by(const llvm::CallBase &call, const llvm::Value *memory, bool reads) const;

    // Has nobody but the function ever known of that memory, up to the call, whose arguments lead
    // elsewhere?
    bool hidden_from(const llvm::CallBase &call, const llvm::Value *memory) const;

    // Is it, or may it be, what a datatype's addresses count from: MPI_BOTTOM?
    static bool is_absolute(const llvm::Value *buffer);

    // May they be places of one and the same object?
    static bool of_one_object(const llvm::Value *one, const llvm::Value *other);

    // A variable of the body's whose address nobody else ever has; or, when it comes to `at`. Null:
    // `pointer` is no such.
    const llvm::AllocaInst *own_variable(const llvm::Value *pointer,
                                         const llvm::Instruction *at = nullptr) const;

  private:
    // May a pointer that the body has got there lead to its own memory?
    bool shows_own_memory(const llvm::Instruction &at) const;

    llvm::Function &entry_;
    Aliases &aliases_;
};

} // namespace sennit::pass
