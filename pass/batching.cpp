// SPDX-License-Identifier: Apache-2.0
#include "batching.h"

#include "buffers.h"
#include "library/batch.h"
#include "mpi_calls.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstddef>
#include <cstring>
#include <string>

namespace sennit::pass {
namespace {

using namespace llvm;

// A standard send or a receive whose error code nobody uses.
struct Operation {
    CallInst *call;
    bool receives;
    const AllocaInst *status; // that somebody reads; null: there is none
    bool refused;             // its status is where others may know it

    Value *buffer() const { return call->getArgOperand(PointToPoint::kBuffer); }
};

// A read or write that may be in a buffer: asked when the program runs.
struct Touch {
    Instruction *instruction;
    Value *memory;
    Type *type;
    bool writes;
};

// What becomes of one loop, or of calls in a row.
struct Plan {
    const Loop *loop = nullptr; // null: in a row
    SmallVector<Operation, 8> operations;
    SmallVector<Touch, 4> touches;
    bool compares = false; // buffers, when the program runs

    bool any(bool receives) const {
        return any_of(operations, [&](const Operation &one) { return one.receives == receives; });
    }
    const char *name() const {
        return !any(true) ? "sends" : !any(false) ? "receives" : "sends and receives";
    }
};

class Planning {
  public:
    Planning(Function &function, AAResults &aliases, Remarks &remarks)
        : buffers_(function, aliases), remarks_(remarks) {}

    void add(const Loop &loop) {
        Plan plan;
        plan.loop = &loop;
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (const Operation operation = operation_at(instruction); operation.call)
                    plan.operations.push_back(operation);
        SmallVector<BasicBlock *, 4> exits;
        loop.getUniqueExitBlocks(exits);
        if (plan.operations.empty() || !loop.getLoopPreheader() || !loop.hasDedicatedExits() ||
            exits.empty())
            return;
        const Operation &first = plan.operations[0];
        const char *name = first.receives ? "receives" : "sends";
        if (const std::string reason = obstacle(loop, plan); !reason.empty()) {
            remarks_.missed("LoopNotBatched", *first.call,
                            Twine("the ") + name +
                                " of this loop are waited for one by one: " + reason);
            return;
        }
        for (const Operation &operation : plan.operations)
            remarks_.done("LoopBatched", *operation.call,
                          Twine("the ") + name +
                              " of this loop are started together and waited for behind it");
        planned_.insert(loop.blocks().begin(), loop.blocks().end());
        keep(plan);
    }

    void add(BasicBlock &block) {
        if (planned_.contains(&block))
            return;
        Plan open;
        SmallVector<Touch, 4> touches; // behind the last operation
        const auto close = [&] {
            touches.clear();
            if (open.operations.size() > 1)
                end_row(open);
            open = Plan();
        };
        for (Instruction &instruction : block) {
            const Operation operation = operation_at(instruction);
            if (operation.call && !operation.refused) {
                if (!may_follow(open, operation))
                    close();
                open.touches.append(touches);
                touches.clear();
                open.operations.push_back(operation);
            } else if (!open.operations.empty() && !may_be_crossed(instruction, open, touches)) {
                close();
            }
        }
        close();
    }

    ArrayRef<Plan> plans() const { return plans_; }

  private:
    void keep(Plan &plan) {
        plan.compares = compares(plan);
        plans_.push_back(std::move(plan));
    }

    bool compares(const Plan &plan) const {
        if (!plan.any(true) || plan.loop || !plan.touches.empty())
            return plan.any(true) || !plan.touches.empty();
        for (const Operation &one : plan.operations)
            for (const Operation &other : plan.operations)
                if (&one != &other && (one.receives || other.receives) &&
                    !buffers_.apart(one.buffer(), other.buffer()))
                    return true;
        return false;
    }

    Operation operation_at(Instruction &instruction) const {
        auto *call = dyn_cast<CallInst>(&instruction);
        const PointToPoint *what = call && call->use_empty() ? point_to_point(*call) : nullptr;
        if (!what || (!what->receives && std::strcmp(what->name, "MPI_Send") != 0))
            return {};
        Operation operation = {call, what->receives, nullptr, false};
        if (!what->receives)
            return operation;
        const Value *status = call->getArgOperand(PointToPoint::kStatus);
        if (ignores_status(status))
            return operation;
        const AllocaInst *variable = buffers_.own_variable(status);
        operation.refused = !variable;
        if (variable && is_read(*variable))
            operation.status = variable;
        return operation;
    }

    // Or written by others than receives.
    static bool is_read(const AllocaInst &status) {
        return !all_of(status.users(), [&](const User *user) {
            const auto *call = dyn_cast<CallBase>(user);
            if (!call || call->isLifetimeStartOrEnd())
                return call != nullptr;
            const PointToPoint *what = point_to_point(*call);
            return what && what->receives && call->getArgOperand(PointToPoint::kBuffer) != &status;
        });
    }

    std::string obstacle(const Loop &loop, Plan &plan) {
        const bool receives = plan.operations[0].receives;
        for (const Operation &operation : plan.operations) {
            if (operation.receives != receives) // the next round's send, behind a receive
                return described(*operation.call);
            if (operation.refused)
                return "its status is kept";
            if (receives && loop.isLoopInvariant(operation.buffer()))
                return "each round receives into the same memory";
            if (!status_is_apart(plan, operation))
                return "its status may be in a buffer";
        }
        for (BasicBlock *block : loop.blocks())
            for (Instruction &instruction : *block)
                if (!operation_at(instruction).call &&
                    !may_be_crossed(instruction, plan, plan.touches))
                    return described(instruction);
        return "";
    }

    bool may_follow(const Plan &plan, const Operation &next) const {
        for (const Operation &one : plan.operations) {
            if (one.receives && !next.receives)
                return false;
            if ((one.receives || next.receives) &&
                one.buffer()->stripPointerCasts() == next.buffer()->stripPointerCasts())
                return false; // it would be waited for at once
        }
        return status_is_apart(plan, next);
    }

    // A status is written when its operation is waited for.
    bool status_is_apart(const Plan &plan, const Operation &next) const {
        const auto apart = [&](const Operation &one, const Operation &other) {
            return !one.status || buffers_.apart(one.status, other.buffer());
        };
        return apart(next, next) && all_of(plan.operations, [&](const Operation &one) {
                   return apart(one, next) && apart(next, one);
               });
    }

    enum class Near { apart, perhaps, inside };

    // Memory, and what must not be written there while the operations are under way; or, with
    // `writes`, not be read either.
    Near near(const Plan &plan, const Value *memory, bool writes) const {
        Near found = Near::apart;
        for (const Operation &one : plan.operations) {
            if (one.status && !buffers_.apart(memory, one.status))
                return Near::inside;
            if ((!writes && !one.receives) || buffers_.apart(memory, one.buffer()))
                continue;
            if (buffers_.of_one_object(memory, one.buffer()))
                return Near::inside;
            found = Near::perhaps;
        }
        return found;
    }

    // While these are under way, and others of them are to come?
    bool may_be_crossed(Instruction &instruction, const Plan &plan,
                        SmallVectorImpl<Touch> &touches) const {
        if (instruction.isVolatile() || instruction.isAtomic() || instruction.mayThrow())
            return false;
        if (!instruction.mayReadOrWriteMemory())
            return true;
        if (Value *memory = getLoadStorePointerOperand(&instruction)) {
            const bool writes = isa<StoreInst>(instruction);
            const Near where = near(plan, memory, writes);
            if (where == Near::perhaps && isa<ScalableVectorType>(getLoadStoreType(&instruction)))
                return false; // how long is it?
            if (where == Near::perhaps)
                touches.push_back({&instruction, memory, getLoadStoreType(&instruction), writes});
            return where != Near::inside;
        }
        const auto *call = dyn_cast<CallInst>(&instruction);
        if (call && call->isLifetimeStartOrEnd())
            return near(plan, call->getArgOperand(1), true) == Near::apart;
        return call && (call->isDebugOrPseudoInst() || isa<AssumeInst>(call) ||
                        isa<NoAliasScopeDeclInst>(call));
    }

    void end_row(Plan &plan) {
        for (const Operation &operation : plan.operations)
            remarks_.done("Batched", *operation.call,
                          Twine(plan.operations.size()) + " " + plan.name() +
                              " are started together and waited for once");
        keep(plan);
    }

    Buffers buffers_;
    Remarks &remarks_;
    SmallVector<Plan, 4> plans_;
    SmallPtrSet<const BasicBlock *, 16> planned_;
};

// Puts calls of the library in place of those of MPI.
class Rewriting {
  public:
    explicit Rewriting(Function &function)
        : module_(*function.getParent()), builder_(function.getContext()) {
        // One for all: they are used one after the other.
        builder_.SetInsertPoint(&function.getEntryBlock(), function.getEntryBlock().begin());
        AllocaInst *memory =
            builder_.CreateAlloca(ArrayType::get(builder_.getInt8Ty(), sizeof(sennit_pass_batch)));
        memory->setAlignment(Align(alignof(sennit_pass_batch)));
        memory->setName("sennit.batch");
        batch_ = memory;
    }

    void apply(const Plan &plan) {
        const Operation &first = plan.operations.front(), &last = plan.operations.back();
        const DebugLoc where = first.call->getDebugLoc();
        begin(plan.loop ? plan.loop->getLoopPreheader()->getTerminator() : first.call, *first.call,
              plan.compares);
        if (plan.loop) {
            SmallVector<BasicBlock *, 4> exits;
            plan.loop->getUniqueExitBlocks(exits);
            for (BasicBlock *exit : exits)
                finish(&*exit->getFirstInsertionPt(), where);
        } else {
            finish(last.call->getNextNode(), where);
        }
        for (const Touch &touch : plan.touches)
            ask(touch);
        for (const Operation &operation : plan.operations)
            start(operation);
    }

  private:
    void begin(Instruction *before, const CallInst &call, bool compares) {
        builder_.SetInsertPoint(before);
        const bool wide = call.getArgOperand(PointToPoint::kCommunicator)->getType()->isPointerTy();
        const auto set = [&](std::size_t at, bool value) {
            builder_.CreateStore(builder_.getInt32(value), builder_.CreateConstInBoundsGEP1_64(
                                                               builder_.getInt8Ty(), batch_, at));
        };
        set(offsetof(sennit_pass_batch, under_way), false);
        set(offsetof(sennit_pass_batch, statuses), false);
        set(offsetof(sennit_pass_batch, compares), compares);
        set(offsetof(sennit_pass_batch, wide), wide);
    }

    void finish(Instruction *before, const DebugLoc &where) {
        builder_.SetInsertPoint(before);
        call("sennit_pass_finish", {batch_}, where);
    }

    void ask(const Touch &touch) {
        builder_.SetInsertPoint(touch.instruction);
        const TypeSize bytes = module_.getDataLayout().getTypeStoreSize(touch.type);
        call("sennit_pass_touch",
             {batch_, touch.memory, builder_.getInt64(bytes.getFixedValue()),
              builder_.getInt32(touch.writes)},
             touch.instruction->getDebugLoc());
    }

    void start(const Operation &operation) {
        CallInst &from = *operation.call;
        builder_.SetInsertPoint(&from);
        SmallVector<Value *, 8> arguments = {batch_};
        for (unsigned i = 0; i < PointToPoint::kStatus; ++i) {
            Value *argument = from.getArgOperand(i);
            const bool handle = i == PointToPoint::kDatatype || i == PointToPoint::kCommunicator;
            arguments.push_back(!handle ? argument
                                : argument->getType()->isPointerTy()
                                    ? builder_.CreatePtrToInt(argument, builder_.getInt64Ty())
                                    : builder_.CreateZExt(argument, builder_.getInt64Ty()));
        }
        if (operation.receives)
            arguments.push_back(operation.status ? from.getArgOperand(PointToPoint::kStatus)
                                                 : no_status(from));
        call(operation.receives ? "sennit_pass_receive" : "sennit_pass_send", arguments,
             from.getDebugLoc());
        from.eraseFromParent();
    }

    void call(StringRef name, ArrayRef<Value *> arguments, const DebugLoc &where) {
        SmallVector<Type *, 8> types;
        for (const Value *argument : arguments)
            types.push_back(argument->getType());
        FunctionCallee function = module_.getOrInsertFunction(
            name, FunctionType::get(builder_.getVoidTy(), types, /*isVarArg=*/false));
        auto *declared = cast<Function>(function.getCallee());
        declared->setVisibility(GlobalValue::HiddenVisibility);
        declared->setDSOLocal(true);
        builder_.CreateCall(function, arguments)->setDebugLoc(where);
    }

    Module &module_;
    IRBuilder<> builder_;
    Value *batch_;
};

} // namespace

bool batch_calls(Function &function, AAResults &aliases, const LoopInfo &loops, Remarks &remarks) {
    Planning planning(function, aliases, remarks);
    // Loops first: a batch of one round is not worth one of them all.
    for (const Loop *loop : loops.getLoopsInPreorder())
        if (loop->isInnermost())
            planning.add(*loop);
    for (BasicBlock &block : function)
        planning.add(block);
    if (planning.plans().empty())
        return false;
    // Only now: what is known of pointers is known of the program as it was.
    Rewriting rewriting(function);
    for (const Plan &plan : planning.plans())
        rewriting.apply(plan);
    return true;
}

} // namespace sennit::pass
