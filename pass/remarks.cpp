// SPDX-License-Identifier: Apache-2.0
#include "remarks.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <string>

namespace sennit::pass {
namespace {

constexpr char kPass[] = "sennit";

template <class Remark>
void emit(llvm::OptimizationRemarkEmitter &emitter, llvm::StringRef name,
          const llvm::CallBase &call, const llvm::Twine &text) {
    emitter.emit([&] { return Remark(kPass, name, &call) << text.str(); });
}

std::string kind_of(const llvm::Instruction &instruction) {
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        if (call->isLifetimeStartOrEnd())
            return "a variable that begins or ends there";
        const llvm::Function *function = call->getCalledFunction();
        return function ? "a call of " + llvm::demangle(function->getName())
                        : "a call through a pointer";
    }
    if (llvm::isa<llvm::LoadInst>(instruction))
        return "a read";
    if (llvm::isa<llvm::StoreInst>(instruction))
        return "a write";
    if (instruction.isAtomic())
        return "an atomic operation";
    return instruction.getOpcodeName();
}

} // namespace

void Remarks::done(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text) {
    emit<llvm::OptimizationRemark>(emitter_, name, call, text);
}
void Remarks::missed(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text) {
    emit<llvm::OptimizationRemarkMissed>(emitter_, name, call, text);
}
void Remarks::note(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text) {
    emit<llvm::OptimizationRemarkAnalysis>(emitter_, name, call, text);
}

std::string described(const llvm::Instruction &instruction) {
    std::string text = kind_of(instruction);
    if (const llvm::DebugLoc &where = instruction.getDebugLoc())
        text += " (line " + std::to_string(where.getLine()) + ")";
    return text;
}

} // namespace sennit::pass
