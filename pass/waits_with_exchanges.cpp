// SPDX-License-Identifier: Apache-2.0
#include "waits_with_exchanges.h"

#include "buffers.h"
#include "mpi_calls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sennit::pass {

using namespace llvm;

namespace {

constexpr std::uint64_t kTaskBytes = 40; // kmp_task_t; behind it are private copies
constexpr std::uint64_t kSlotBytes = 8;  // of one of them

bool calls_runtime(const Instruction *instruction, std::initializer_list<StringRef> names) {
    const auto *call = dyn_cast_or_null<CallInst>(instruction);
    const Function *called = call ? call->getCalledFunction() : nullptr;
    return called && is_contained(names, called->getName());
}

// __kmpc_omp_taskwait_deps_51(where, thread, count, dependences, 0, null, nowait)
CallInst *wait_at(Instruction &instruction) {
    using namespace PatternMatch;
    if (!calls_runtime(&instruction, {"__kmpc_omp_taskwait_deps_51", "__kmpc_omp_wait_deps"}) ||
        calls_runtime(instruction.getNextNonDebugInstruction(), {"__kmpc_omp_task_begin_if0"}))
        return nullptr;
    auto *wait = cast<CallInst>(&instruction);
    const bool has_nowait = wait->arg_size() > 6 && !match(wait->getArgOperand(6), m_Zero());
    return has_nowait || !match(wait->getArgOperand(4), m_Zero()) ? nullptr : wait;
}

class Wait {
  public:
    Wait(CallInst &call, Steady &steady) : call_(call), steady_(steady) {}

    // Are all dependences known?
    bool find_dependences() {
        const auto *count = dyn_cast<ConstantInt>(call_.getArgOperand(2));
        constexpr std::uint64_t kMost = 64, kBytes = 24, kFlagsAt = 16; // kmp_depend_info_t
        if (!count || count->getZExtValue() > kMost)
            return false;
        for (std::uint64_t i = 0; i < count->getZExtValue(); ++i) {
            const StoreInst *address = last_store(i * kBytes);
            const StoreInst *flags = last_store(i * kBytes + kFlagsAt);
            const auto *bits = flags ? dyn_cast<ConstantInt>(flags->getValueOperand()) : nullptr;
            const auto *pointer =
                address ? dyn_cast<PtrToIntOperator>(address->getValueOperand()) : nullptr;
            if (!bits || !pointer)
                return false;
            constexpr std::uint64_t kOut = 2;
            dependences_.push_back(
                {pointer->getPointerOperand(), (bits->getZExtValue() & kOut) != 0});
        }
        return true;
    }

    // The calls behind it that can be the body of its task; and what prevents the first that
    // cannot.
    SmallVector<CallBase *, 4> exchanges(CallBase *&refused, std::string &reason) const {
        SmallVector<CallBase *, 4> found;
        for (Instruction *next = call_.getNextNonDebugInstruction(); next;
             next = next->getNextNonDebugInstruction()) {
            auto *call = dyn_cast<CallBase>(next);
            const PointToPoint *what = call ? point_to_point(*call) : nullptr;
            if (call && (what || is_exchange(*call)) && !is_fortran(*call)) {
                const bool is_send = what && !what->receives && !what->synchronizes;
                refused = call;
                reason = !found.empty() && !is_send
                             ? "in front of it is another message of the taskwait's"
                             : obstacle(*call, what);
                if (!reason.empty())
                    return found;
                found.push_back(call);
                if (!is_send)
                    return found;
            } else if (reason = crossing(*next); !reason.empty()) {
                refused = found.empty() ? exchange_behind(*next) : nullptr;
                return found;
            }
        }
        return found;
    }

    // In branches and loops behind it, as far as they only compute and exchange. None if one of
    // them cannot be a task, or if the function uses what is exchanged without them.
    SmallVector<CallBase *, 4> exchanges_in_branches(const DominatorTree &dominators,
                                                     Touches &touches, CallBase *&refused,
                                                     std::string &reason) {
        reason = "";
        SmallVector<Instruction *, 16> starts = {call_.getNextNode()}, ends;
        SmallSetVector<BasicBlock *, 16> crossed; // up to their ends
        SmallVector<CallBase *, 4> found;
        bool only_sends = true;
        const auto refuse = [&](CallBase &call, StringRef why) {
            if (reason.empty()) {
                refused = &call;
                reason = why;
            }
        };
        const auto take = [&](CallBase &call) { // false: it is no exchange
            const PointToPoint *what = point_to_point(call);
            if ((!what && !is_exchange(call)) || is_fortran(call))
                return false;
            found.push_back(&call);
            only_sends &= what && !what->receives && !what->synchronizes;
            if (const std::string why = obstacle(call, what); !why.empty())
                refuse(call, why);
            else if (!dominators.dominates(&call_, &call))
                refuse(call, "not all that leads to it goes through the taskwait");
            return true;
        };
        const auto go_on = [&](BasicBlock *block) {
            if (block == call_.getParent())
                ends.push_back(&block->front());
            else if (crossed.insert(block))
                starts.push_back(&block->front());
        };
        while (!starts.empty()) {
            Instruction *next = starts.pop_back_val();
            for (; !next->isTerminator(); next = next->getNextNode()) {
                auto *call = dyn_cast<CallBase>(next);
                if (!(call && take(*call)) && !isa<PHINode>(next) && !next->isDebugOrPseudoInst() &&
                    !crossing(*next).empty())
                    break;
            }
            auto *invoke = dyn_cast<InvokeInst>(next);
            if (invoke && take(*invoke)) // C's functions throw nothing
                go_on(invoke->getNormalDest());
            else if (isa<BranchInst, SwitchInst>(next))
                for_each(successors(next), go_on);
            else
                ends.push_back(next);
        }
        for (Instruction *end : ends)
            if (found.empty() && end->getParent() != call_.getParent())
                if (CallBase *call = exchange_behind(*end))
                    refuse(*call, crossing(*end));
        if (found.empty() || !reason.empty())
            return {};
        for (CallBase *call : found)
            if (!only_sends && any_of(found, [&](const CallBase *other) {
                    return leads_to(*call, *other, crossed);
                }))
                refuse(*call, "behind it is another message of the taskwait's");
        if (const Instruction *use = use_behind(ends, touches))
            refuse(*found.front(),
                   "behind it is " + described(*use, true) + ", which needs the taskwait, too");
        return reason.empty() ? found : SmallVector<CallBase *, 4>();
    }

  private:
    struct Dependence {
        const Value *address;
        bool is_written;
    };

    // Within these blocks?
    static bool leads_to(const CallBase &first, const CallBase &second,
                         const SmallSetVector<BasicBlock *, 16> &blocks) {
        if (first.getParent() == second.getParent() && first.comesBefore(&second))
            return true;
        SmallVector<const BasicBlock *, 8> next = {first.getParent()};
        SmallPtrSet<const BasicBlock *, 8> seen;
        while (!next.empty())
            for (const BasicBlock *block : successors(next.pop_back_val())) {
                if (!blocks.contains(const_cast<BasicBlock *>(block)))
                    continue;
                if (block == second.getParent())
                    return true;
                if (seen.insert(block).second)
                    next.push_back(block);
            }
        return false;
    }

    // Of what the clauses name; exchanges have waits of their own. Null: none is seen.
    const Instruction *use_behind(ArrayRef<Instruction *> ends, Touches &touches) const {
        SmallVector<const Value *, 4> named;
        for (const Dependence &one : dependences_)
            named.push_back(one.address);
        const Guarded guarded(named, {});
        SmallVector<Instruction *, 16> starts(ends);
        SmallPtrSet<const BasicBlock *, 16> seen;
        while (!starts.empty()) {
            Instruction *at = starts.pop_back_val();
            for (const Touches::One &one : touches.of(*at->getParent())) {
                const auto *call = dyn_cast<CallBase>(one.instruction);
                if (!one.instruction->comesBefore(at) &&
                    !(call && (point_to_point(*call) || is_exchange(*call))) &&
                    touches.is_used(one, guarded))
                    return one.instruction;
            }
            for (BasicBlock *next : successors(at->getParent()))
                if (seen.insert(next).second)
                    starts.push_back(&next->front());
        }
        return nullptr;
    }

    // In the block of the taskwait the last one counts, elsewhere the only one.
    const StoreInst *last_store(std::uint64_t place) const {
        const StoreInst *found = nullptr;
        const DataLayout &layout = call_.getDataLayout();
        std::int64_t begin = 0;
        const Value *list = GetPointerBaseWithConstantOffset(call_.getArgOperand(3), begin, layout);
        const auto is_there = [&](const Instruction &instruction) {
            std::int64_t offset = 0;
            const auto *store = dyn_cast<StoreInst>(&instruction);
            return store && store->getParent() &&
                   GetPointerBaseWithConstantOffset(store->getPointerOperand(), offset, layout) ==
                       list &&
                   offset == begin + static_cast<std::int64_t>(place);
        };
        if (!isa<AllocaInst>(list))
            return nullptr;
        for (const Instruction *at = call_.getPrevNode(); at; at = at->getPrevNode())
            if (is_there(*at))
                return cast<StoreInst>(at);
        for (const Instruction &instruction : instructions(*call_.getFunction()))
            if (is_there(instruction)) {
                if (found)
                    return nullptr;
                found = cast<StoreInst>(&instruction);
            }
        return found;
    }

    std::string obstacle(const CallBase &call, const PointToPoint *what) const {
        if (!call.use_empty())
            return "its error code is used";
        if ((!what || what->receives) &&
            !ignores_status(
                call.getArgOperand(what ? unsigned{PointToPoint::kStatus} : Exchange::kStatus)))
            return "its status is kept";
        if (what)
            return obstacle(call.getArgOperand(PointToPoint::kBuffer), what->receives);
        const std::string sent = obstacle(call.getArgOperand(Exchange::kSent), false);
        return sent.empty() ? obstacle(call.getArgOperand(Exchange::kReceived), true) : sent;
    }

    std::string obstacle(const Value *buffer, bool is_written) const {
        if (Buffers::is_absolute(buffer))
            return "its buffer is given by absolute addresses";
        const Value *object = getUnderlyingObject(buffer, /*MaxLookup=*/0);
        const auto *global = dyn_cast<GlobalVariable>(object);
        const auto *intrinsic = dyn_cast<IntrinsicInst>(object);
        if ((global && global->isThreadLocal()) ||
            (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address))
            return "its buffer belongs to a thread";
        bool is_named = false;
        for (const Dependence &one : dependences_)
            if (is_same(*one.address, *buffer)) {
                is_named = true;
                if (one.is_written || !is_written)
                    return "";
            }
        return is_named ? "it is received, and the taskwait names its buffer by `in`"
                        : "its buffer is not what the taskwait names";
    }

    // Both read the same place, and between the two reads is nothing but the taskwait and what may
    // be behind it: no other task may change what says where a buffer is.
    bool is_same(const Value &named, const Value &used) const {
        if (&named == &used)
            return true;
        const auto *first = dyn_cast<Instruction>(&named), *second = dyn_cast<Instruction>(&used);
        if (!first || !second || !first->isSameOperationAs(second) ||
            !isa<LoadInst, GetElementPtrInst, CastInst>(first))
            return false;
        if (isa<LoadInst>(first)) {
            const bool is_one_block = first->getParent() == second->getParent();
            if (is_one_block && second->comesBefore(first))
                std::swap(first, second);
            const Instruction &last = is_one_block ? *second : call_;
            const Value *place = first->getOperand(0);
            if (!is_one_block &&
                (first->getParent() != call_.getParent() || !first->comesBefore(&call_) ||
                 !steady_.is_steady(*getUnderlyingObject(place, 0), *call_.getFunction())))
                return false;
            if (!all_of(make_range(first->getIterator(), last.getIterator()),
                        [&](const Instruction &next) { return keeps(next, place); }))
                return false;
        }
        return all_of(zip(first->operands(), second->operands()), [&](const auto &pair) {
            return is_same(*std::get<0>(pair), *std::get<1>(pair));
        });
    }

    // Does it leave alone what is there? Of the creator's instructions.
    static bool keeps(const Instruction &instruction, const Value *place) {
        const auto *store = dyn_cast<StoreInst>(&instruction);
        if (!store)
            return !instruction.mayWriteToMemory() ||
                   calls_runtime(&instruction,
                                 {"__kmpc_omp_taskwait_deps_51", "__kmpc_omp_wait_deps"});
        return isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand())) &&
               !Buffers::of_one_object(store->getPointerOperand(), place);
    }

    // What the creator does now, and would do before the taskwait then.
    std::string crossing(const Instruction &instruction) const {
        const auto *load = dyn_cast<LoadInst>(&instruction);
        if (load && load->isSimple())
            return steady_.is_steady(*getUnderlyingObject(load->getPointerOperand(), 0),
                                     *load->getFunction())
                       ? ""
                       : "the taskwait is followed by " + described(*load, true) +
                             ", which a task may have written";
        if (isa<PHINode>(instruction) || instruction.isTerminator() ||
            instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())
            return "the taskwait is followed by " + described(instruction, true);
        return "";
    }

    // The next one that no other task or taskwait is in front of.
    static CallBase *exchange_behind(Instruction &instruction) {
        for (Instruction *next = &instruction; next; next = next->getNextNonDebugInstruction()) {
            auto *call = dyn_cast<CallBase>(next);
            if (call && (point_to_point(*call) || is_exchange(*call)))
                return is_fortran(*call) ? nullptr : call;
            if (call && call->getCalledFunction() &&
                call->getCalledFunction()->getName().starts_with("__kmpc_omp_"))
                return nullptr;
        }
        return nullptr;
    }

    CallInst &call_;
    Steady &steady_;
    SmallVector<Dependence, 4> dependences_;
};

// Of a function of the compiler's own.
void give_subprogram(Function &function, const Function &creator, const CallBase &first) {
    DISubprogram *of = creator.getSubprogram();
    if (!of)
        return;
    DIBuilder builder(*function.getParent(), /*AllowUnresolved=*/false, of->getUnit());
    const unsigned line = first.getDebugLoc() ? first.getDebugLoc().getLine() : of->getLine();
    DISubprogram *program =
        builder.createFunction(of->getFile(), function.getName(), function.getName(), of->getFile(),
                               line, builder.createSubroutineType(builder.getOrCreateTypeArray({})),
                               line, DINode::FlagArtificial,
                               DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit |
                                   DISubprogram::SPFlagOptimized);
    builder.finalizeSubprogram(program);
    function.setSubprogram(program);
}

// The body of the task: the calls, with what is not constant of their arguments from its memory.
Function &make_body(Function &creator, ArrayRef<CallBase *> calls) {
    Module &module = *creator.getParent();
    LLVMContext &context = module.getContext();
    Type *number = Type::getInt32Ty(context);
    auto *body = Function::Create(
        FunctionType::get(number, {number, PointerType::getUnqual(context)}, false),
        GlobalValue::InternalLinkage, creator.getName() + ".sennit.exchange", module);
    for (const char *name : {"target-cpu", "target-features", "tune-cpu", "frame-pointer"})
        if (creator.hasFnAttribute(name))
            body->addFnAttr(creator.getFnAttribute(name));
    body->addFnAttr(Attribute::NoUnwind);
    body->addFnAttr(Attribute::NoInline);
    body->setUWTableKind(creator.getUWTableKind());
    give_subprogram(*body, creator, *calls.front());
    IRBuilder<> builder(BasicBlock::Create(context, "", body));
    std::uint64_t place = kTaskBytes;
    for (const CallBase *call : calls) {
        SmallVector<Value *, 12> arguments;
        for (Value *argument : call->args()) {
            if (isa<Constant>(argument)) {
                arguments.push_back(argument);
                continue;
            }
            arguments.push_back(builder.CreateLoad(
                argument->getType(),
                builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), body->getArg(1), place)));
            place += kSlotBytes;
        }
        CallInst *copy =
            builder.CreateCall(call->getFunctionType(), call->getCalledOperand(), arguments);
        copy->setAttributes(call->getAttributes());
        copy->setCallingConv(call->getCallingConv());
        if (const DebugLoc &where = call->getDebugLoc(); where && body->getSubprogram())
            copy->setDebugLoc(
                DILocation::get(context, where.getLine(), where.getCol(), body->getSubprogram()));
    }
    builder.CreateRet(builder.getInt32(0));
    return *body;
}

void remove(CallBase &call) {
    if (auto *invoke = dyn_cast<InvokeInst>(&call)) { // C's functions throw nothing
        invoke->getUnwindDest()->removePredecessor(invoke->getParent());
        IRBuilder<>(invoke).CreateBr(invoke->getNormalDest());
    }
    call.eraseFromParent();
}

// As the compiler writes `task if(0)`: what undeferred.cpp looks for.
void make_task(CallInst &wait, ArrayRef<CallBase *> calls) {
    Function &creator = *wait.getFunction();
    Module &module = *creator.getParent();
    while (wait.getNextNode() != calls.back()) { // what computes arguments comes first
        Instruction *next = wait.getNextNode();
        for (const CallBase *call : calls)
            if (next == call)
                next = nullptr;
        if (next)
            next->moveBefore(&wait);
        else // a call: behind the taskwait, in front of which the rest comes
            wait.moveAfter(wait.getNextNode());
    }
    Function &body = make_body(creator, calls);
    IRBuilder<> builder(calls.front());
    builder.SetCurrentDebugLocation(calls.front()->getDebugLoc());
    Value *where = wait.getArgOperand(0), *thread = wait.getArgOperand(1);
    std::uint64_t bytes = kTaskBytes;
    for (const CallBase *call : calls)
        bytes += kSlotBytes * static_cast<std::uint64_t>(count_if(call->args(), [](const Use &one) {
                     return !isa<Constant>(one);
                 }));
    Type *nothing = builder.getVoidTy(), *number = builder.getInt32Ty(),
         *word = builder.getInt64Ty(), *pointer = builder.getPtrTy();
    const auto runtime = [&](StringRef name, Type *result, ArrayRef<Type *> types) {
        return module.getOrInsertFunction(name, FunctionType::get(result, types, false));
    };
    builder.SetInsertPoint(&wait);
    Value *task = builder.CreateCall(
        runtime("__kmpc_omp_task_alloc", pointer, {pointer, number, number, word, word, pointer}),
        {where, thread, builder.getInt32(1), builder.getInt64(bytes), builder.getInt64(0), &body});
    std::uint64_t place = kTaskBytes;
    for (const CallBase *call : calls)
        for (Value *argument : call->args())
            if (!isa<Constant>(argument)) {
                builder.CreateStore(
                    argument, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), task, place));
                place += kSlotBytes;
            }
    builder.SetInsertPoint(wait.getNextNode());
    const FunctionCallee begin =
        runtime("__kmpc_omp_task_begin_if0", nothing, {pointer, number, pointer});
    const FunctionCallee end =
        runtime("__kmpc_omp_task_complete_if0", nothing, {pointer, number, pointer});
    builder.CreateCall(begin, {where, thread, task});
    builder.CreateCall(&body, {thread, task});
    builder.CreateCall(end, {where, thread, task});
    for (CallBase *call : calls)
        remove(*call);
}

} // namespace

bool make_tasks_of_waits(Function &creator, const DominatorTree &dominators, Steady &steady,
                         Touches &touches, Remarks &remarks) {
    struct Task {
        CallInst *wait;
        SmallVector<CallBase *, 4> calls;
        bool in_branches;
    };
    SmallVector<Task, 8> tasks; // made when all of them have been looked at
    for (Instruction &instruction : instructions(creator)) {
        CallInst *call = wait_at(instruction);
        if (!call)
            continue;
        Wait wait(*call, steady);
        CallBase *refused = nullptr;
        std::string reason;
        if (!wait.find_dependences())
            continue;
        SmallVector<CallBase *, 4> calls = wait.exchanges(refused, reason);
        const bool in_branches = calls.empty() && !refused;
        if (in_branches)
            calls = wait.exchanges_in_branches(dominators, touches, refused, reason);
        if (calls.empty() && refused) {
            const PointToPoint *what = point_to_point(*refused);
            remarks.missed("NotDetached", *refused,
                           title(what ? what->name : "MPI_Sendrecv", refused->getArgOperand(0)) +
                               " does not become a task with its taskwait: " + reason);
        }
        if (!calls.empty())
            tasks.push_back({call, std::move(calls), in_branches});
    }
    for (const Task &task : tasks) {
        if (!task.in_branches) {
            make_task(*task.wait, task.calls);
            continue;
        }
        for (CallBase *call : task.calls) {
            auto *wait = cast<CallInst>(task.wait->clone());
            wait->insertBefore(call);
            make_task(*wait, {call});
        }
        task.wait->eraseFromParent();
    }
    return !tasks.empty();
}

} // namespace sennit::pass
