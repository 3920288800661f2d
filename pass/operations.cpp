// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include "quiet_calls.h"

#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <cstring>

namespace sennit::pass {

using namespace llvm;
using Crossing = Operations::Crossing;

namespace {

// Or written by others than receives.
bool is_read(const AllocaInst &status) {
    return !all_of(status.users(), [&](const User *user) {
        const auto *call = dyn_cast<CallBase>(user);
        if (!call || call->isLifetimeStartOrEnd())
            return call != nullptr;
        const PointToPoint *what = point_to_point(*call);
        return what && what->receives && call->getArgOperand(PointToPoint::kBuffer) != &status;
    });
}

// In a library: declared here, and nothing else goes by this name.
bool is_mathematics(const CallInst &call) {
    const Function *function = call.getCalledFunction();
    return function && function->isDeclaration() && !call.isMustTailCall() &&
           only_computes(function->getName()) && function->getReturnType()->isFloatingPointTy() &&
           all_of(function->args(),
                  [](const Argument &argument) { return argument.getType()->isFloatingPointTy(); });
}

bool is_nobodys_business(const Instruction &instruction) {
    const auto *call = dyn_cast<CallInst>(&instruction);
    return call && !call->isMustTailCall() &&
           (call->doesNotAccessMemory() || call->isDebugOrPseudoInst() || isa<AssumeInst>(call) ||
            isa<NoAliasScopeDeclInst>(call));
}

} // namespace

Operation Operations::at(Instruction &instruction) const {
    auto *call = dyn_cast<CallInst>(&instruction);
    const PointToPoint *what = call && call->use_empty() ? point_to_point(*call) : nullptr;
    if (!what || (!what->receives && std::strcmp(what->name, "MPI_Send") != 0))
        return {};
    Operation operation = {call, what->receives, nullptr, nullptr};
    const auto *count = dyn_cast<ConstantInt>(call->getArgOperand(PointToPoint::kCount));
    if (Buffers::is_absolute(operation.buffer()) && !(count && count->isZero()))
        operation.refusal = "its buffer is given by absolute addresses";
    if (!what->receives)
        return operation;
    const Value *status = call->getArgOperand(PointToPoint::kStatus);
    if (ignores_status(status))
        return operation;
    const AllocaInst *variable = buffers_.own_variable(status);
    if (!variable)
        operation.refusal = "its status is kept";
    if (variable && is_read(*variable))
        operation.status = variable;
    return operation;
}

bool Operations::may_follow(ArrayRef<Operation> under_way, const Operation &next) const {
    for (const Operation &one : under_way) {
        if (one.receives && !next.receives)
            return false;
        if ((one.receives || next.receives) &&
            one.buffer()->stripPointerCasts() == next.buffer()->stripPointerCasts())
            return false; // it would be waited for at once
    }
    return status_is_apart(under_way, next);
}

bool Operations::status_is_apart(ArrayRef<Operation> operations, const Operation &next) const {
    const auto apart = [&](const Operation &one, const Operation &other) {
        return !one.status || buffers_.apart(one.status, other.buffer());
    };
    return apart(next, next) && all_of(operations, [&](const Operation &one) {
               return apart(one, next) && apart(next, one);
           });
}

// Memory, and what must not be written there while the operations are under way; or, with
// `writes`, not be read either.
Crossing Operations::near(ArrayRef<Operation> under_way, const Value *memory, bool writes) const {
    Crossing found = Crossing::allowed;
    for (const Operation &one : under_way) {
        if (one.status && !buffers_.apart(memory, one.status))
            return Crossing::never;
        if ((!writes && !one.receives) || buffers_.apart(memory, one.buffer()))
            continue;
        if (buffers_.of_one_object(memory, one.buffer()))
            found = Crossing::inside;
        else if (found == Crossing::allowed)
            found = Crossing::asked;
    }
    return found;
}

Crossing Operations::crossing_access(ArrayRef<Operation> under_way, const Touch &touch,
                                     SmallVectorImpl<Touch> &touches) const {
    const Crossing where = near(under_way, touch.memory, touch.writes);
    if (where != Crossing::asked && where != Crossing::inside)
        return where;
    if (touch.type && isa<ScalableVectorType>(touch.type))
        return Crossing::never; // how long is it?
    touches.push_back(touch);
    return where;
}

Crossing Operations::crossing_quiet_call(const CallInst &call,
                                         ArrayRef<Operation> under_way) const {
    const bool meets = any_of(under_way, [&](const Operation &one) {
        return buffers_.touched_by(call, one.buffer(), one.receives) ||
               (one.status && buffers_.touched_by(call, one.status, true));
    });
    return meets ? Crossing::never : Crossing::allowed;
}

Crossing Operations::crossing_call(CallInst &call, ArrayRef<Operation> under_way,
                                   SmallVectorImpl<Touch> &touches) const {
    if (call.isLifetimeStartOrEnd())
        return near(under_way, call.getArgOperand(1), true) == Crossing::allowed ? Crossing::allowed
                                                                                 : Crossing::never;
    auto *block = dyn_cast<MemIntrinsic>(&call);
    if (!block)
        return Crossing::never;
    const auto access = [&](Value *memory, bool writes) {
        return crossing_access(under_way, {&call, memory, block->getLength(), nullptr, writes},
                               touches);
    };
    const Crossing written = access(block->getRawDest(), true);
    auto *copy = dyn_cast<MemTransferInst>(block);
    return copy ? std::max(written, access(copy->getRawSource(), false)) : written;
}

Crossing Operations::crossing(Instruction &instruction, ArrayRef<Operation> under_way,
                              SmallVectorImpl<Touch> &touches) const {
    if (const auto *call = dyn_cast<CallInst>(&instruction)) {
        if (is_mathematics(*call))
            return Crossing::allowed;
        if (is_quiet(*call, aliases_))
            return crossing_quiet_call(*call, under_way);
    }
    if (instruction.isVolatile() || instruction.isAtomic() || instruction.mayThrow() ||
        !instruction.willReturn())
        return Crossing::never;
    if (isa<CallBase>(instruction) ? is_nobodys_business(instruction)
                                   : !instruction.mayReadOrWriteMemory())
        return Crossing::allowed;
    if (Value *memory = getLoadStorePointerOperand(&instruction))
        return crossing_access(under_way,
                               {&instruction, memory, nullptr, getLoadStoreType(&instruction),
                                isa<StoreInst>(instruction)},
                               touches);
    if (auto *call = dyn_cast<CallInst>(&instruction))
        return crossing_call(*call, under_way, touches);
    return Crossing::never;
}

} // namespace sennit::pass
