// SPDX-License-Identifier: Apache-2.0
// What may be the same memory, in a function that is not changed meanwhile. Memory that others
// learn of only later is nobody else's before.
#pragma once

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace sennit::pass {

class Aliases {
  public:
    Aliases(llvm::AAResults &results, llvm::DominatorTree &dominators, const llvm::LoopInfo &loops)
        : escapes_(dominators, &loops), results_(results, &escapes_) {
        results_
            .enableCrossIterationMode(); // what is compared may be of different rounds of a loop
    }

    llvm::BatchAAResults &results() { return results_; }
    // Does nobody else know of the function's own memory yet, when it comes to `at`?
    bool hides(const llvm::Value &memory, const llvm::Instruction &at) {
        return escapes_.isNotCapturedBefore(&memory, &at, /*OrAt=*/true);
    }

  private:
    llvm::EarliestEscapeInfo escapes_;
    llvm::BatchAAResults results_;
};

} // namespace sennit::pass
