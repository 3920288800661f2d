// SPDX-License-Identifier: Apache-2.0
#include "static_loops.h"

#include "static_region.h"
#include "thread_independence.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <string>

namespace sennit::pass {

using namespace llvm;

namespace {

FunctionCallee declare(Module &module, const std::string &name, Type *result,
                       ArrayRef<Type *> types) {
    FunctionCallee function =
        module.getOrInsertFunction(name, FunctionType::get(result, types, /*isVarArg=*/false));
    auto *declared = cast<Function>(function.getCallee());
    declared->setVisibility(GlobalValue::HiddenVisibility);
    declared->setDSOLocal(true);
    declared->setDoesNotThrow();
    return function;
}

// From
//     init; rest; ...; before; fini; behind
// to
//     lent = begin; again: rest; ...; before; if (next(lent)) goto again; behind
void rewrite(const StaticRegion &region, const std::string &suffix) {
    CallInst &init = *region.init, &fini = *region.fini;
    Module &module = *init.getModule();
    IRBuilder<> builder(&init);
    auto *place = new GlobalVariable(module, builder.getPtrTy(), /*isConstant=*/false,
                                     GlobalValue::InternalLinkage,
                                     Constant::getNullValue(builder.getPtrTy()), "sennit.loop");
    SmallVector<Value *, 10> arguments(init.args());
    SmallVector<Type *, 10> types(init.getFunctionType()->params());
    arguments.push_back(place);
    types.push_back(builder.getPtrTy());
    CallInst *lent = builder.CreateCall(
        declare(module, "sennit_pass_loop_" + suffix, builder.getInt32Ty(), types), arguments);
    lent->setDebugLoc(init.getDebugLoc());
    BasicBlock *again = SplitBlock(init.getParent(), init.getNextNode());

    builder.SetInsertPoint(&fini);
    builder.SetCurrentDebugLocation(fini.getDebugLoc());
    Type *pointer = builder.getPtrTy(), *number = builder.getInt32Ty();
    CallInst *more = builder.CreateCall(declare(module, "sennit_pass_loop_next_" + suffix, number,
                                                {pointer, number, number, pointer, pointer}),
                                        {fini.getArgOperand(0), fini.getArgOperand(1), lent,
                                         init.getArgOperand(StaticInit::kLower),
                                         init.getArgOperand(StaticInit::kUpper)});
    Value *is_more = builder.CreateIsNotNull(more);
    BasicBlock *asks = fini.getParent();
    BasicBlock *behind = SplitBlock(asks, &fini);
    asks->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(asks);
    builder.CreateCondBr(is_more, again, behind);
    init.eraseFromParent();
    fini.eraseFromParent();
}

} // namespace

bool has_static_loops(const Function &function) {
    for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallInst>(&instruction);
            call && !static_loop_suffix(*call).empty())
            return true;
    return false;
}

bool lend_static_loops(Function &function, const DominatorTree &dominators, const LoopInfo &loops,
                       Remarks &remarks) {
    SmallVector<StaticRegion, 4> found;
    for (Instruction &instruction : instructions(function)) {
        auto *call = dyn_cast<CallInst>(&instruction);
        if (!call || static_loop_suffix(*call).empty())
            continue;
        StaticRegion region;
        std::string reason = find_region(*call, loops, region);
        if (reason.empty())
            reason = obstacle_before(region);
        if (reason.empty())
            reason = obstacle_behind(region);
        if (reason.empty())
            reason = thread_dependence(region, dominators, loops);
        if (reason.empty()) {
            remarks.done("LoopLent", *call,
                         "threads that are done may take over iterations of this static loop");
            found.push_back(region);
        } else {
            remarks.missed("LoopNotLent", *call,
                           "each thread runs its share of this static loop itself: " + reason);
        }
    }
    // Only now: what is known of blocks is known of the function as it was.
    for (const StaticRegion &region : found)
        rewrite(region, static_loop_suffix(*region.init));
    return !found.empty();
}

} // namespace sennit::pass
