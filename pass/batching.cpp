// SPDX-License-Identifier: Apache-2.0
#include "batching.h"

#include "buffers.h"
#include "mpi_calls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstring>
#include <string>

namespace sennit::pass {
namespace {

using namespace llvm;

using Calls = SmallVector<CallInst *, 8>;

// A standard send whose error code nobody uses.
CallInst *as_send(Instruction &instruction) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const PointToPoint *what = call ? point_to_point(*call) : nullptr;
    return what && std::strcmp(what->name, "MPI_Send") == 0 && call->use_empty() ? call : nullptr;
}

// Operations that are started, and the wait for them. Handles of requests are of the type that
// those of communicators have, in every MPI.
class Batch {
  public:
    Batch(CallInst &send, unsigned capacity)
        : module_(*send.getModule()), function_(send.getFunction()), no_status_(no_status(send)),
          request_(send.getArgOperand(PointToPoint::kCommunicator)->getType()) {
        IRBuilder<> builder(&function_->getEntryBlock(), function_->getEntryBlock().begin());
        requests_ = builder.CreateAlloca(ArrayType::get(request_, capacity));
        requests_->setName("sennit.requests");
    }

    // In place of the send. Returns how many are under way then: one that fails has no request.
    Value *start(CallInst &send, Value *index) {
        IRBuilder<> builder(&send);
        SmallVector<Type *, 8> types(send.getFunctionType()->params());
        SmallVector<Value *, 8> arguments(send.args());
        types.push_back(builder.getPtrTy());
        arguments.push_back(builder.CreateInBoundsGEP(request_, requests_, index));
        const FunctionCallee starts = module_.getOrInsertFunction(
            "MPI_Isend", FunctionType::get(send.getType(), types, false));
        CallInst *call = builder.CreateCall(starts, arguments);
        call->setDebugLoc(send.getDebugLoc());
        Value *under_way =
            builder.CreateSelect(builder.CreateIsNull(call), // MPI_SUCCESS
                                 builder.CreateAdd(index, builder.getInt32(1)), index);
        send.eraseFromParent();
        return under_way;
    }

    void wait(Instruction *before, Value *count, const DebugLoc &where) {
        IRBuilder<> builder(before);
        const FunctionCallee waits = module_.getOrInsertFunction(
            "MPI_Waitall",
            FunctionType::get(builder.getInt32Ty(),
                              {builder.getInt32Ty(), builder.getPtrTy(), builder.getPtrTy()},
                              false));
        builder.CreateCall(waits, {count, requests_, no_status_})->setDebugLoc(where);
    }

    Function &function() { return *function_; }

  private:
    Module &module_;
    Function *function_;
    Constant *no_status_;
    Type *request_;
    AllocaInst *requests_;
};

class Batching {
  public:
    Batching(Function &function, AAResults &aliases, Remarks &remarks)
        : function_(function), buffers_(function, aliases), remarks_(remarks) {}

    bool loop(const Loop &loop) {
        Calls sends;
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (CallInst *send = as_send(instruction))
                    sends.push_back(send);
        if (sends.empty() || !loop.getLoopPreheader() || !loop.hasDedicatedExits())
            return false;
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (!as_send(instruction) && !may_be_crossed(instruction, sends)) {
                    remarks_.missed("LoopNotBatched", *sends[0],
                                    "the sends of this loop are waited for one by one: " +
                                        described(instruction));
                    return false;
                }
        for (CallInst *send : sends)
            remarks_.done("LoopBatched", *send,
                          "the sends of this loop are started together and waited for behind it");
        transform(loop, sends);
        return true;
    }

    bool block(BasicBlock &block) {
        SmallVector<Calls, 2> runs(1);
        for (Instruction &instruction : block)
            if (CallInst *send = as_send(instruction))
                runs.back().push_back(send);
            else if (!runs.back().empty() && !may_be_crossed(instruction, runs.back()))
                runs.emplace_back();
        bool changed = false;
        for (const Calls &run : runs)
            if (run.size() > 1) {
                transform(run);
                changed = true;
            }
        return changed;
    }

  private:
    // While these sends are under way, and others of them are to come?
    bool may_be_crossed(const Instruction &instruction, const Calls &sends) const {
        if (instruction.isVolatile() || instruction.isAtomic() || instruction.mayThrow())
            return false;
        if (isa<LoadInst>(instruction) || !instruction.mayReadOrWriteMemory())
            return true;
        const auto apart_from_all = [&](const Value *memory) {
            for (const CallInst *send : sends)
                if (!buffers_.apart(memory, send->getArgOperand(PointToPoint::kBuffer)))
                    return false;
            return true;
        };
        if (const auto *store = dyn_cast<StoreInst>(&instruction))
            return apart_from_all(store->getPointerOperand());
        const auto *call = dyn_cast<CallInst>(&instruction);
        if (call && call->isLifetimeStartOrEnd())
            return apart_from_all(call->getArgOperand(1));
        return call && (call->isDebugOrPseudoInst() || isa<AssumeInst>(call) ||
                        isa<NoAliasScopeDeclInst>(call));
    }

    void transform(const Calls &run) {
        Batch batch(*run[0], static_cast<unsigned>(run.size()));
        IRBuilder<> builder(function_.getContext());
        for (CallInst *send : run)
            remarks_.done("Batched", *send,
                          Twine(run.size()) + " sends are started together and waited for once");
        Instruction *behind = run.back()->getNextNode();
        const DebugLoc where = run.back()->getDebugLoc();
        Value *under_way = builder.getInt32(0);
        for (CallInst *send : run)
            under_way = batch.start(*send, under_way);
        batch.wait(behind, under_way, where);
    }

    void transform(const Loop &loop, const Calls &sends) {
        Batch batch(*sends[0], kMostUnderWay);
        SmallVector<BasicBlock *, 4> exits;
        loop.getUniqueExitBlocks(exits);
        const DebugLoc where = sends[0]->getDebugLoc();
        IRBuilder<> builder(&*function_.getEntryBlock().begin());
        Type *number = builder.getInt32Ty();
        AllocaInst *under_way = builder.CreateAlloca(number, nullptr, "sennit.under_way");
        builder.SetInsertPoint(loop.getLoopPreheader()->getTerminator());
        builder.CreateStore(builder.getInt32(0), under_way);
        for (BasicBlock *exit : exits) {
            builder.SetInsertPoint(&*exit->getFirstInsertionPt());
            batch.wait(&*builder.GetInsertPoint(), builder.CreateLoad(number, under_way), where);
        }
        for (CallInst *send : sends) {
            builder.SetInsertPoint(send);
            Value *count = builder.CreateLoad(number, under_way);
            Value *full = builder.CreateICmpEQ(count, builder.getInt32(kMostUnderWay));
            Instruction *then = SplitBlockAndInsertIfThen(full, send, /*Unreachable=*/false);
            batch.wait(then, count, where);
            builder.SetInsertPoint(send);
            Value *index = builder.CreateSelect(full, builder.getInt32(0), count);
            Instruction *behind = send->getNextNode();
            Value *now = batch.start(*send, index);
            builder.SetInsertPoint(behind);
            builder.CreateStore(now, under_way);
        }
    }

    Function &function_;
    Buffers buffers_;
    Remarks &remarks_;
};

} // namespace

bool batch_sends(Function &function, AAResults &aliases, const LoopInfo &loops, Remarks &remarks) {
    Batching batching(function, aliases, remarks);
    bool changed = false;
    // Loops first: a batch of one round is not worth one of them all.
    SmallVector<const Loop *, 8> innermost;
    for (const Loop *loop : loops.getLoopsInPreorder())
        if (loop->isInnermost())
            innermost.push_back(loop);
    for (const Loop *loop : innermost)
        changed |= batching.loop(*loop);
    SmallVector<BasicBlock *, 32> blocks;
    for (BasicBlock &block : function)
        blocks.push_back(&block);
    for (BasicBlock *block : blocks)
        changed |= batching.block(*block);
    return changed;
}

} // namespace sennit::pass
