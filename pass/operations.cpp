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
        const bool receives = (what && what->receives) || is_exchange(*call);
        return receives && call->getArgOperand(call->arg_size() - 1) == &status &&
               count(call->args(), &status) == 1;
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

SmallVector<Buffer, 2> Operation::buffers() const {
    if (collective)
        return buffers_of(*collective, *call);
    if (receives && sends)
        return {{call->getArgOperand(Exchange::kReceived), true},
                {call->getArgOperand(Exchange::kSent), false}};
    return {{call->getArgOperand(PointToPoint::kBuffer), receives}};
}

bool Operation::has_buffers_of_rounds(const Loop &loop) const {
    return none_of(buffers(), [&](const Buffer &buffer) {
        return (buffer.is_written || !collective) && loop.isLoopInvariant(buffer.memory);
    });
}

Operation Operations::at(Instruction &instruction) const {
    auto *call = dyn_cast<CallInst>(&instruction);
    if (!call || !call->use_empty())
        return {};
    if (const Collective *what = collective(*call))
        return {call, true, true, nullptr, obstacle(*what, *call), what};
    const PointToPoint *what = point_to_point(*call);
    const bool both = is_exchange(*call);
    if (!both && (!what || (!what->receives && std::strcmp(what->name, "MPI_Send") != 0)))
        return {};
    Operation operation = {call, both || what->receives, both || !what->receives, nullptr, nullptr};
    for (const auto &[memory, is_written] : operation.buffers()) {
        const unsigned place = !both        ? PointToPoint::kCount
                               : is_written ? Exchange::kReceivedCount
                                            : Exchange::kSentCount;
        const auto *count = dyn_cast<ConstantInt>(call->getArgOperand(place));
        if (Buffers::is_absolute(memory) && !(count && count->isZero()))
            operation.refusal = "its buffer is given by absolute addresses";
    }
    if (!operation.receives)
        return operation;
    const Value *status = call->getArgOperand(both ? Exchange::kStatus : PointToPoint::kStatus);
    if (ignores_status(status))
        return operation;
    const AllocaInst *variable = buffers_.own_variable(status, call);
    if (!variable)
        operation.refusal = "its status is kept";
    if (variable && is_read(*variable))
        operation.status = variable;
    return operation;
}

namespace {

// Of two operations: is there a pair of buffers, at least one of which is written, like that?
template <class Test>
bool any_pair(const Operation &one, const Operation &other, Test test) {
    for (const Buffer &first : one.buffers())
        for (const Buffer &second : other.buffers())
            if ((first.is_written || second.is_written) && test(first.memory, second.memory))
                return true;
    return false;
}

} // namespace

bool Operations::disjoint(const Operation &one, const Operation &other) const {
    return !any_pair(one, other, [&](const Value *first, const Value *second) {
        return !buffers_.disjoint(first, second);
    });
}

bool Operations::may_follow_in_order(const Operation &one, const Operation &next) {
    if (one.collective && next.collective)
        return pass::may_follow(*one.collective, *one.call, *next.collective, *next.call);
    return !one.collective && !next.collective && !(one.receives && next.sends);
}

bool Operations::may_follow(ArrayRef<Operation> under_way, const Operation &next) const {
    for (const Operation &one : under_way) {
        if (!may_follow_in_order(one, next))
            return false;
        if (any_pair(one, next, [](const Value *first, const Value *second) {
                return first->stripPointerCasts() == second->stripPointerCasts();
            }))
            return false; // it would be waited for at once
    }
    return status_is_disjoint(under_way, next);
}

bool Operations::status_is_disjoint(ArrayRef<Operation> operations, const Operation &next) const {
    const auto disjoint = [&](const Operation &one, const Operation &other) {
        return !one.status || all_of(other.buffers(), [&](const Buffer &buffer) {
            return buffers_.disjoint(one.status, buffer.memory);
        });
    };
    return disjoint(next, next) && all_of(operations, [&](const Operation &one) {
               return disjoint(one, next) && disjoint(next, one);
           });
}

// Memory, and what must not be written there while the operations are under way; or, with
// `writes`, not be read either.
Crossing Operations::near(ArrayRef<Operation> under_way, const Value *memory, bool writes) const {
    Crossing found = Crossing::allowed;
    for (const Operation &one : under_way) {
        if (one.status && !buffers_.disjoint(memory, one.status))
            return Crossing::never;
        for (const Buffer &buffer : one.buffers()) {
            if ((!writes && !buffer.is_written) || buffers_.disjoint(memory, buffer.memory))
                continue;
            if (buffers_.of_one_object(memory, buffer.memory))
                found = Crossing::inside;
            else if (found == Crossing::allowed)
                found = Crossing::asked;
        }
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

bool Operations::is_out_of_reach(const Operation &operation, const CallBase &call) const {
    return none_of(operation.buffers(),
                   [&](const Buffer &buffer) {
                       return buffers_.touched_by(call, buffer.memory, buffer.is_written);
                   }) &&
           !(operation.status && buffers_.touched_by(call, operation.status, true));
}

bool Operations::is_hidden_from(const Operation &operation, const CallBase &call) const {
    return all_of(
               operation.buffers(),
               [&](const Buffer &buffer) { return buffers_.hidden_from(call, buffer.memory); }) &&
           (!operation.status || buffers_.hidden_from(call, operation.status));
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
            return all_of(under_way,
                          [&](const Operation &one) { return is_out_of_reach(one, *call); })
                       ? Crossing::allowed
                       : Crossing::never;
        if (const auto touched = touched_by_library(*call))
            return all_of(*touched,
                          [&](const Value *memory) {
                              return near(under_way, memory, true) == Crossing::allowed;
                          })
                       ? Crossing::allowed
                       : Crossing::never;
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
