// SPDX-License-Identifier: Apache-2.0
// Receives are started earlier than they stand: in front of loops and calls that only compute, and
// that touch neither the buffer nor the status (mpi-detach paper, section 5.2). A row of receives
// is started in its order.
//
// Crossed are standard sends, whose buffers must not be what is received, and waits for operations
// that have begun before: MPI promises order only among receives, and among sends. But for that
// nothing is crossed that the window of a receive would not cross (window.h): no other receive, no
// Probe, no other MPI call. Nobody waits for the message before the receive stands there, for it
// may come only in answer to a send in between. Where a receive is started, the function surely
// comes to where it stands, in the same round of each loop.
//
// Whether a loop keeps away from the buffer may be known only when the program runs. If it does
// not, or if somebody could notice (library/watched.cpp), the receive is started where it stands:
// so are those behind it in its row. (Not if the function does not come to it.)
#pragma once

#include "window.h"

#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>

namespace sennit::pass {

class Hoisting {
  public:
    Hoisting(llvm::Function &function, const Operations &rules, const Windows::Analyses &analyses);

    void find(llvm::ArrayRef<Operation> operations);

    bool has(const Operation &operation) const { return hoists_.count(operation.call) > 0; }
    bool any() const { return !hoists_.empty(); }
    // "the loop in line 7": in front of which it is started.
    std::string crossed(const Operation &operation) const;
    // "the loop in line 7: a write of ghost (line 8)". Empty: nothing of substance is in front.
    std::string obstacle(const Operation &operation) const;

    void apply(Rewriting &rewriting);

  private:
    struct Hoist {
        Operation operation;
        llvm::Instruction *before;                             // it is started
        llvm::SmallVector<Rewriting::Condition, 2> conditions; // the inner ones first
        llvm::SmallVector<const llvm::CallInst *, 4> behind;   // receives in between
        llvm::SmallVector<llvm::Instruction *, 8> operands;    // computed there too, the last first
        llvm::SmallVector<Range, 4> ranges;           // that have to be apart from its buffer
        llvm::SmallVector<llvm::CallInst *, 2> sends; // the same of theirs
        std::string crossed;
    };
    class Climb;

    Windows::Analyses analyses_;
    const Operations &rules_;
    Ranges ranges_;
    llvm::SmallVector<Operation, 8> operations_;
    llvm::MapVector<const llvm::CallInst *, Hoist> hoists_;
    llvm::DenseMap<const llvm::CallInst *, std::string> obstacles_;
};

} // namespace sennit::pass
