// SPDX-License-Identifier: Apache-2.0
#include "remarks.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
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
// Clang has one group for what passes warn of: -Wpass-failed.
void Remarks::warn(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text) {
    llvm::DiagnosticInfoOptimizationFailure warning(kPass, name, call.getDebugLoc(),
                                                    call.getParent());
    warning << text.str();
    call.getContext().diagnose(warning);
}

// Globals have names, "function.variable" if they are static in one; variables have those that the
// compiler has written down for a debugger.
std::string name_of(const llvm::Value *pointer) {
    const llvm::Value *object = llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
    if (const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
        const auto [function, variable] = global->getName().split('.');
        return llvm::demangle(variable.empty() || !global->hasLocalLinkage() ? global->getName()
                                                                             : variable);
    }
    const llvm::Function *function = nullptr;
    if (const auto *argument = llvm::dyn_cast<llvm::Argument>(object))
        function = argument->getParent();
    else if (const auto *instruction = llvm::dyn_cast<llvm::Instruction>(object))
        function = instruction->getFunction();
    if (!function)
        return "";
    for (const llvm::Instruction &instruction : llvm::instructions(*function))
        for (const llvm::DbgVariableRecord &record :
             llvm::filterDbgVars(instruction.getDbgRecordRange()))
            if (llvm::is_contained(record.location_ops(), object) ||
                (record.isDbgAssign() && record.getAddress() == object)) // a variable in memory
                return record.getVariable()->getName().str();
    return "";
}

std::string title(llvm::StringRef name, const llvm::Value *buffer) {
    const std::string variable = buffer ? name_of(buffer) : "";
    return name.str() + (variable.empty() ? "" : " of " + variable);
}

std::string described(const llvm::Instruction &instruction, bool names) {
    std::string text = kind_of(instruction);
    if (const llvm::Value *memory = llvm::getLoadStorePointerOperand(&instruction); names && memory)
        if (const std::string name = name_of(memory); !name.empty())
            text += " of " + name;
    if (const llvm::DebugLoc &where = instruction.getDebugLoc())
        text += " (line " + std::to_string(where.getLine()) + ")";
    return text;
}

} // namespace sennit::pass
