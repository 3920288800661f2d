// SPDX-License-Identifier: Apache-2.0
#include "remarks.h"

#include "mpi_calls.h"

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

// Flang's names are in lower case, and what they are in is before them: "_QFinnerEfield".
std::string source_name(llvm::StringRef symbol) {
    const std::size_t last = symbol.find_last_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (symbol.starts_with("_Q") && last + 1 < symbol.size())
        return symbol.drop_front(last + 1).str();
    return llvm::demangle(symbol);
}

template <class Remark>
void emit(llvm::OptimizationRemarkEmitter &emitter, llvm::StringRef name,
          const llvm::CallBase &call, const llvm::Twine &text) {
    emitter.emit([&] { return Remark(kPass, name, &call) << text.str(); });
}

std::string kind_of(const llvm::Instruction &instruction) {
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        if (call->isLifetimeStartOrEnd())
            return "a variable that begins or ends there";
        const llvm::StringRef name = name_of_call(*call);
        return name.empty() ? "a call through a pointer" : "a call of " + source_name(name);
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
void Remarks::noted(llvm::StringRef name, const llvm::CallBase &call, const llvm::Twine &text) {
    emit<llvm::OptimizationRemarkAnalysis>(emitter_, name, call, text);
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
    if (is_fortran_address(object))
        return "";
    if (const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
        const auto [function, variable] = global->getName().split('.');
        return source_name(variable.empty() || !global->hasLocalLinkage() ? global->getName()
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
