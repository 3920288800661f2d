// SPDX-License-Identifier: Apache-2.0
// Puts calls of libsennit-pass.a (library/batch.h) into a function. One batch holds all that is
// under way in it.
#pragma once

#include "operations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <cstdint>
#include <string>

namespace sennit::pass {

// A function of libsennit-pass.a.
llvm::FunctionCallee hidden_function(llvm::Module &module, llvm::StringRef name,
                                     llvm::FunctionType *type);

// What the rounds of loops touch: they go on from `memory` by `stride` bytes, `rounds` times.
struct Rounds {
    llvm::Value *stride, *rounds; // of 64 bits
};

class Rewriting {
  public:
    // `first` is one of the function's operations: of its MPI.
    Rewriting(llvm::Function &function, const llvm::CallInst &first, bool compares);

    void start(const Operation &operation); // in place of the call
    void finish(llvm::Instruction &before);
    void ask(const Touch &touch);
    // `bytes` of 64 bits at `memory`, and where loops take them: kMostLoops at most.
    static constexpr std::size_t kMostLoops = 3;
    // Unless all these are certain it may be any memory.
    void ask(llvm::Instruction &before, const Touch &touch, llvm::Value *memory, llvm::Value *bytes,
             llvm::ArrayRef<Rounds> loops, llvm::ArrayRef<llvm::Value *> certain);
    // Does a number stay within these in all rounds?
    llvm::Value *stays(llvm::Instruction &before, llvm::Value *first, std::int64_t least,
                       std::int64_t greatest, llvm::ArrayRef<Rounds> loops);

    struct Condition {
        llvm::Value *value;
        bool holds; // if it is that
    };

    // A receive that is started before it stands. Where it stands it is started if it is not yet.
    class Early {
      public:
        // `operands`: what its arguments need and is not there yet, the last first. The function
        // comes to it if all conditions hold; the later ones mean nothing unless the earlier do.
        Early(Rewriting &rewriting, const Operation &operation, llvm::Instruction &place,
              llvm::ArrayRef<llvm::Instruction *> operands, llvm::ArrayRef<Condition> conditions);
        Rewriting &rewriting() { return rewriting_; }
        llvm::Instruction &place() { return place_; }
        // Only if its buffer does not meet this: as above; or that of a send.
        void ask(const Touch &touch, llvm::Value *memory, llvm::Value *bytes,
                 llvm::ArrayRef<Rounds> loops, llvm::ArrayRef<llvm::Value *> certain);
        void ask(const llvm::CallInst &send);
        // Only if those have been started early, or the function does not come to them.
        void start(llvm::ArrayRef<const llvm::CallInst *> behind);

      private:
        // Of a call, as library/batch.h has it, before it stands there.
        llvm::Value *argument(const llvm::CallInst &call, unsigned number);
        // Only if the library says so: of its buffer, and of the other's.
        void only_if(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> other,
                     const llvm::DebugLoc &where);
        std::string full_name(llvm::StringRef name) const;

        Rewriting &rewriting_;
        const llvm::CallInst &call_;
        llvm::Instruction &place_;
        llvm::ValueToValueMapTy there_;
        llvm::SmallVector<llvm::Value *, 8> arguments_; // as library/batch.h has them
        llvm::Value *may_;
    };

  private:
    llvm::Value *as_long(llvm::Value *handle);
    void start_collective(const Collective &what, llvm::CallInst &from);
    llvm::CallInst *call(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> arguments,
                         const llvm::DebugLoc &where, llvm::Type *result = nullptr);
    void add(llvm::SmallVectorImpl<llvm::Value *> &arguments, llvm::ArrayRef<Rounds> loops);
    // Any memory, unless all is certain.
    void widen(llvm::Value *&memory, llvm::Value *&bytes, llvm::ArrayRef<llvm::Value *> certain);

    llvm::Module &module_;
    llvm::IRBuilder<> builder_;
    llvm::Value *batch_;
    bool compares_;
    llvm::DenseMap<const llvm::CallInst *, llvm::Value *> started_; // have they been, early?
    llvm::DenseMap<const llvm::CallInst *, llvm::Value *> skipped_; // are they not come to?
};

} // namespace sennit::pass
