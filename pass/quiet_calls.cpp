// SPDX-License-Identifier: Apache-2.0
#include "quiet_calls.h"

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

} // namespace

bool is_quiet(const CallBase &call, Aliases &aliases) {
    Function *function = call.getCalledFunction();
    return function && !function->isDeclaration() && !call.isMustTailCall() &&
           call.hasFnAttr(Attribute::NoSync) && call.doesNotThrow() &&
           !isModOrRefSet(aliases.results().getMemoryEffects(&call).getModRef(
               IRMemLocation::InaccessibleMem)) &&
           ends(*function, kDepth);
}

} // namespace sennit::pass
