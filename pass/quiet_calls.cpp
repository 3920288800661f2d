// SPDX-License-Identifier: Apache-2.0
#include "quiet_calls.h"

#include "mpi_calls.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

namespace sennit::pass {
namespace {

using namespace llvm;

// Of calls in calls. Recursion is not followed for ever.
constexpr unsigned kDepth = 4;

// Does a call end? A loop of these functions has nothing to do for others, so the language may
// demand of it that it ends (C11 6.8.5p6).
bool ends(Function &function, unsigned depth) {
    if (function.willReturn())
        return true;
    if (depth == 0 || function.isDeclaration() || !function.hasExactDefinition())
        return false;
    const DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    const ReversePostOrderTraversal<const Function *> order(&function);
    if (containsIrreducibleCFG<const BasicBlock *>(order, loops))
        return false;
    return all_of(loops.getLoopsInPreorder(),
                  [](const Loop *loop) { return isMustProgress(loop); }) &&
           all_of(instructions(function), [&](const Instruction &instruction) {
               const auto *call = dyn_cast<CallBase>(&instruction);
               return instruction.willReturn() || (call && call->getCalledFunction() &&
                                                   ends(*call->getCalledFunction(), depth - 1));
           });
}

// What C's library and the program's declarations say of it. A clock is read where it stands.
bool is_quiet_declaration(const CallBase &call, const Function &function) {
    if (function.isIntrinsic() || effects_of(function.getName()).known || !call.doesNotThrow() ||
        !call.hasFnAttr(Attribute::WillReturn) || call.isConvergent())
        return false;
    return call.onlyReadsMemory() || (function.hasFnAttribute(Attribute::AllocKind) &&
                                      call.onlyAccessesInaccessibleMemOrArgMem());
}

} // namespace

bool is_quiet(const CallBase &call, Aliases &aliases) {
    Function *function = call.getCalledFunction();
    if (!function || call.isMustTailCall())
        return false;
    if (function->isDeclaration())
        return is_quiet_declaration(call, *function);
    return call.hasFnAttr(Attribute::NoSync) && call.doesNotThrow() &&
           !isModOrRefSet(aliases.results().getMemoryEffects(&call).getModRef(
               IRMemLocation::InaccessibleMem)) &&
           ends(*function, kDepth);
}

std::optional<SmallVector<const Value *, 8>> touched_by_library(const CallBase &call) {
    const Function *function = call.getCalledFunction();
    if (!function || !function->isDeclaration() || call.isMustTailCall())
        return std::nullopt;
    const std::optional<unsigned> skipped = asks_only(function->getName());
    if (!skipped && !is_linear_algebra(*function))
        return std::nullopt;
    SmallVector<const Value *, 8> touched;
    for (unsigned i = 0; i < call.arg_size(); ++i)
        if (call.getArgOperand(i)->getType()->isPointerTy() && (!skipped || i != *skipped))
            touched.push_back(call.getArgOperand(i));
    return touched;
}

bool is_long_computation(const CallBase &call, Aliases &aliases) {
    const Function *function = call.getCalledFunction();
    return function &&
           (function->isDeclaration() ? is_linear_algebra(*function) : is_quiet(call, aliases));
}

} // namespace sennit::pass
