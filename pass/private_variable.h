// SPDX-License-Identifier: Apache-2.0
// What a function does with one of its local variables, which each thread has for itself. Before
// all optimization: variables are in memory.
#pragma once

#include "static_region.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace sennit::pass {

class PrivateVariable {
  public:
    enum Kind { nothing, reads, writes, lists, shows };
    struct Access {
        const llvm::Instruction *instruction;
        Kind kind;              // lists: its address goes where OpenMP looks for what is reduced
        bool place_is_constant; // in the variable
    };

    explicit PrivateVariable(const llvm::AllocaInst &variable);

    llvm::ArrayRef<Access> accesses() const { return accesses_; }
    // Where it comes into being, as often as that happens.
    llvm::ArrayRef<const llvm::Instruction *> begins() const { return begins_; }
    Kind kind_at(const llvm::Instruction &instruction) const;

    // Only read and written as a whole?
    bool is_plain() const;
    // Does the parallel region's function keep where the thread's number is in it?
    bool holds_thread_number() const;
    // Is it the loop's counter, which begins with `lower`?
    bool counts_from(const llvm::Value &lower) const;
    bool is_reduced() const;
    // Of one that is reduced: read by the loop, and else only when it has been.
    bool is_read_only_in(const StaticRegion &region, const llvm::DominatorTree &dominators) const;

  private:
    void note(const llvm::Value &pointer, bool place_is_constant);

    const llvm::AllocaInst &variable_;
    llvm::SmallVector<Access, 16> accesses_;
    llvm::SmallVector<const llvm::Instruction *, 2> begins_;
    llvm::SmallVector<const llvm::CallBase *, 2> reductions_;
};

} // namespace sennit::pass
