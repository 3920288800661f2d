// SPDX-License-Identifier: Apache-2.0
#include "tail_binding.h"

#include "buffers.h"
#include "mpi_calls.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <iterator>
#include <string>

namespace sennit::pass {
namespace {

using namespace llvm;

struct Candidate {
    CallBase *call;
    const PointToPoint *what;
    CallBase *operation; // has the buffer: the call itself, or what it waits for

    Value *buffer() const { return operation->getArgOperand(PointToPoint::kBuffer); }
    unsigned status_place() const { return operation == call ? PointToPoint::kStatus : 1; }
    bool has_status() const { return what->receives || operation != call; }
    Value *status() const { return call->getArgOperand(status_place()); }
};

// The operation that a wait is for, where its request is a variable that only the two have.
CallBase *operation_of(const CallBase &wait) {
    auto *request = dyn_cast<AllocaInst>(wait.getArgOperand(0));
    CallBase *operation = nullptr;
    if (!request || request->isArrayAllocation())
        return nullptr;
    for (User *user : request->users()) {
        auto *call = dyn_cast<CallBase>(user);
        if (call == &wait || (call && call->isLifetimeStartOrEnd()))
            continue;
        if (!call || operation || !wait_for_operation(*call) || call->getArgOperand(6) != request)
            return nullptr;
        operation = call;
    }
    return operation;
}

// Of `call`, if it is one that could be bound: null otherwise.
Candidate candidate_of(CallBase &call) {
    if (const PointToPoint *what = point_to_point(call))
        return {&call, what, &call};
    CallBase *operation = is_wait(call) ? operation_of(call) : nullptr;
    return {&call, operation ? wait_for_operation(*operation) : nullptr, operation};
}

class TailBinding {
  public:
    TailBinding(Function &entry, AAResults &aliases) : buffers_(entry, aliases) {}

    // Empty: it can be bound. Else what prevents it.
    std::string obstacle(const Candidate &candidate) {
        if (!candidate.call->use_empty())
            return "its error code is used";
        if (std::string reason = buffers_.ends_with_body(candidate.buffer()); !reason.empty())
            return reason;
        if (candidate.has_status() && !ignores_status(candidate.status()) &&
            !buffers_.own_variable(candidate.status()))
            return "its status is kept";
        return obstacle_behind(candidate);
    }

  private:
    std::string obstacle_behind(const Candidate &candidate) {
        SmallVector<const Instruction *, 16> starts; // of paths
        SmallPtrSet<const BasicBlock *, 16> seen;
        const auto enter = [&](const BasicBlock *next) {
            if (seen.insert(next).second)
                starts.push_back(&next->front());
        };
        if (const auto *invoke = dyn_cast<InvokeInst>(candidate.call))
            enter(invoke->getNormalDest()); // C's functions throw nothing
        else
            starts.push_back(&*std::next(candidate.call->getIterator()));
        while (!starts.empty()) {
            const Instruction *at = starts.pop_back_val();
            const BasicBlock *block = at->getParent();
            for (const Instruction &next : make_range(at->getIterator(), block->end()))
                if (std::string reason = crossing(candidate, next); !reason.empty())
                    return reason;
            for (const BasicBlock *next : successors(block))
                enter(next);
        }
        return "";
    }

    // What speaks against `instruction` while the message of `candidate` is under way.
    std::string crossing(const Candidate &candidate, const Instruction &instruction) {
        if (instruction.isVolatile() || instruction.isAtomic())
            return "it is followed by " + described(instruction);
        if (const auto *load = dyn_cast<LoadInst>(&instruction))
            return access(candidate, *load, load->getPointerOperand(), false);
        if (const auto *store = dyn_cast<StoreInst>(&instruction))
            return access(candidate, *store, store->getPointerOperand(), true);
        if (const auto *call = dyn_cast<CallBase>(&instruction))
            return crossing_call(candidate, *call);
        if (isa<ResumeInst>(instruction))
            return "it is followed by code for an exception";
        if (instruction.mayReadOrWriteMemory())
            return "it is followed by " + described(instruction);
        return "";
    }

    std::string access(const Candidate &candidate, const Instruction &instruction,
                       const Value *pointer, bool writes) {
        if (candidate.has_status() && in_status(candidate, pointer))
            return "its status is used by " + described(instruction);
        if ((!writes && !candidate.what->receives) || buffers_.apart(pointer, candidate.buffer()))
            return "";
        return "its buffer may be touched by " + described(instruction);
    }

    bool in_status(const Candidate &candidate, const Value *pointer) {
        const AllocaInst *variable = buffers_.own_variable(candidate.status());
        return variable && buffers_.own_variable(pointer) == variable;
    }

    std::string crossing_call(const Candidate &candidate, const CallBase &call) {
        if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd() || isa<AssumeInst>(call) ||
            isa<NoAliasScopeDeclInst>(call) || call.doesNotAccessMemory())
            return call.mayThrow() ? "it is followed by " + described(call) : "";
        const PointToPoint *other = point_to_point(call);
        if (!other)
            other = bound_point_to_point(call);
        if (!other)
            return "it is followed by " + described(call);
        if (candidate.what->synchronizes || other->synchronizes)
            return "a synchronous send is not crossed: it is followed by " + described(call);
        if (candidate.what->receives)
            return "its arrival may be what allows " + described(call);
        if (!other->receives)
            return "";
        if (!buffers_.apart(call.getArgOperand(PointToPoint::kBuffer), candidate.buffer()))
            return "its buffer may overlap that of " + described(call);
        return "";
    }

    Buffers buffers_;
};

void bind(const Candidate &candidate) {
    CallBase &call = *candidate.call;
    Module &module = *call.getModule();
    IRBuilder<> builder(&call);
    auto *slot =
        cast<GlobalVariable>(module.getOrInsertGlobal(candidate.what->slot, builder.getPtrTy()));
    slot->setVisibility(GlobalValue::HiddenVisibility);
    slot->setDSOLocal(true);
    if (candidate.has_status() && !ignores_status(candidate.status()))
        call.setArgOperand(candidate.status_place(), no_status(*candidate.operation));
    call.setCalledOperand(builder.CreateLoad(builder.getPtrTy(), slot));
}

} // namespace

bool bind_tail_calls(Function &entry, AAResults &aliases, Remarks &remarks) {
    SmallVector<Candidate, 4> candidates;
    for (Instruction &instruction : instructions(entry))
        if (auto *call = dyn_cast<CallBase>(&instruction))
            if (const Candidate candidate = candidate_of(*call); candidate.what)
                candidates.push_back(candidate);
    TailBinding binding(entry, aliases);
    SmallVector<Candidate, 4> bound;
    for (const Candidate &candidate : candidates) {
        const std::string reason = binding.obstacle(candidate);
        if (reason.empty()) {
            bound.push_back(candidate);
            remarks.done("Bound", *candidate.call,
                         Twine(candidate.what->name) +
                             " is bound to its task, which ends without waiting for it");
            continue;
        }
        remarks.missed("NotBound", *candidate.call,
                       Twine(candidate.what->name) + " suspends its task: " + reason);
        if (candidate.what->receives)
            remarks.note("StockHang", *candidate.call,
                         "this receive inside a task can hang under a stock OpenMP runtime");
    }
    for (const Candidate &candidate : bound)
        bind(candidate);
    return !bound.empty();
}

} // namespace sennit::pass
