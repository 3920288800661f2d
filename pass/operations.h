// SPDX-License-Identifier: Apache-2.0
// Blocking sends and receives that may be started where they stand and waited for later, and what
// a function may do in between: nothing that others could notice, and nothing that the messages
// could.
#pragma once

#include "buffers.h"
#include "collectives.h"
#include "mpi_calls.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace sennit::pass {

// A standard send, a receive, both in one call, or a collective call, whose error code nobody uses.
struct Operation {
    llvm::CallInst *call;
    bool receives;
    bool sends;
    const llvm::AllocaInst *status; // that somebody reads; null: there is none
    const char *refusal;            // why it has to be waited for where it stands; null: it has not
    const Collective *collective = nullptr;

    llvm::SmallVector<Buffer, 2> buffers() const;
    bool is_exchange() const { return receives && sends && !collective; }
    // Is there one for each round of the loop, if that goes round?
    bool has_buffers_of_rounds(const llvm::Loop &loop) const;
};

// A read or write that may be in a buffer: asked when the program runs.
struct Touch {
    llvm::Instruction *instruction;
    llvm::Value *memory;
    llvm::Value *bytes; // null: as many as `type` has
    llvm::Type *type;
    bool writes;
};

class Operations {
  public:
    Operations(llvm::Function &function, Aliases &aliases)
        : aliases_(aliases), buffers_(function, aliases) {}

    // Its call is null: `instruction` is something else.
    Operation at(llvm::Instruction &instruction) const;

    // May `next` be started while these are under way? Their buffers are compared when the program
    // runs.
    bool may_follow(llvm::ArrayRef<Operation> under_way, const Operation &next) const;
    // May the one be started while the other is under way, if their buffers are apart?
    static bool may_follow_in_order(const Operation &one, const Operation &next);
    // A status is written when its operation is waited for.
    bool status_is_disjoint(llvm::ArrayRef<Operation> operations, const Operation &next) const;
    // Is no buffer written that may be one of the other's?
    bool disjoint(const Operation &one, const Operation &other) const;
    // Can the call neither read nor write its buffers and its status?
    bool is_out_of_reach(const Operation &operation, const llvm::CallBase &call) const;
    // Nor can anything that has begun before.
    bool is_hidden_from(const Operation &operation, const llvm::CallBase &call) const;

    // While these are under way, and others of them are to come:
    enum class Crossing { // from best to worst
        allowed,
        asked,  // if what was added to `touches` is not in a buffer
        inside, // it touches the object that a buffer is in: `touches` has where
        never,
    };
    Crossing crossing(llvm::Instruction &instruction, llvm::ArrayRef<Operation> under_way,
                      llvm::SmallVectorImpl<Touch> &touches) const;

  private:
    Crossing near(llvm::ArrayRef<Operation> under_way, const llvm::Value *memory,
                  bool writes) const;
    Crossing crossing_access(llvm::ArrayRef<Operation> under_way, const Touch &touch,
                             llvm::SmallVectorImpl<Touch> &touches) const;
    Crossing crossing_call(llvm::CallInst &call, llvm::ArrayRef<Operation> under_way,
                           llvm::SmallVectorImpl<Touch> &touches) const;

    Aliases &aliases_;
    Buffers buffers_;
};

} // namespace sennit::pass
