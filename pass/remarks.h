// SPDX-License-Identifier: Apache-2.0
// What is said of a call: -Rpass=sennit what was done, -Rpass-missed=sennit what prevents it,
// -Rpass-analysis=sennit what is known of the task that it makes; and a warning of what a stock
// runtime would do (-Wpass-failed).
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/InstrTypes.h"

namespace sennit::pass {

class Remarks {
  public:
    explicit Remarks(llvm::OptimizationRemarkEmitter &emitter) : emitter_(emitter) {}

    void done(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text);
    void missed(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text);
    void noted(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text);
    static void warn(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text);

  private:
    llvm::OptimizationRemarkEmitter &emitter_;
};

// What people call an instruction: "a call of foo (line 12)", "a write (line 12)"; with names, "a
// write of x (line 12)".
std::string described(const llvm::Instruction &instruction, bool names = false);
// The variable that a pointer leads into. Empty: it is not known.
std::string name_of(const llvm::Value *pointer);
// "MPI_Recv of ghost". Null: there is no buffer.
std::string title(llvm::StringRef name, const llvm::Value *buffer);

} // namespace sennit::pass
