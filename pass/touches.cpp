// SPDX-License-Identifier: Apache-2.0
#include "touches.h"

#include "mpi_calls.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;

namespace {

template <class Found>
void add_objects(const Value *pointer, Found add) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    for_each(objects, add);
}

} // namespace

Guarded::Guarded(ArrayRef<const Value *> guarded, ArrayRef<const Value *> unchanged) {
    const auto add = [&](ArrayRef<const Value *> from, Set &to) {
        for (const Value *one : from) {
            ends_with_function |= isa<AllocaInst>(getUnderlyingObject(one));
            add_objects(one, [&](const Value *object) { to.insert(object); });
        }
    };
    add(guarded, objects);
    add(unchanged, variables);
}

Touches::One Touches::look(Instruction &instruction) const {
    One one = {&instruction,
               {},
               {},
               {},
               pass::calls_mpi(instruction),
               isa<ReturnInst, ResumeInst>(instruction)};
    const auto add = [](const Value *memory, SmallVectorImpl<const Value *> &to) {
        if (memory->getType()->isPointerTy())
            add_objects(memory, [&](const Value *object) { to.push_back(object); });
    };
    if (const auto *load = dyn_cast<LoadInst>(&instruction))
        add(load->getPointerOperand(), one.read);
    else if (const auto *store = dyn_cast<StoreInst>(&instruction))
        add(store->getPointerOperand(), one.changed);
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *called = call ? call->getCalledFunction() : nullptr;
    if (call && !call->isDebugOrPseudoInst() &&
        !(called && called->getName().starts_with("__kmpc_")))
        for (const Value *argument : call->args())
            add(argument, one.changed);
    const auto add_called = [&](const Value *value) {
        const auto *function = dyn_cast<Function>(value);
        if (function && !function->isDeclaration() &&
            (!entries_.contains(const_cast<Function *>(function)) ||
             instruction.getFunction()->hasOptNone()))
            one.called.push_back(function);
    };
    if (called)
        add_called(called);
    if (called && called->getName().starts_with("__kmpc_fork_"))
        for (const Value *argument : call->args())
            add_called(argument);
    return one;
}

ArrayRef<Touches::One> Touches::of(BasicBlock &block) {
    const auto [found, is_new] = blocks_.try_emplace(&block);
    if (is_new)
        for (Instruction &instruction : block)
            if (One one = look(instruction); one.calls_mpi || one.ends_function ||
                                             !one.read.empty() || !one.changed.empty() ||
                                             !one.called.empty())
                found->second.push_back(std::move(one));
    return found->second;
}

const Touches::Sum &Touches::alone(const Function &function) {
    const auto [found, is_new] = alone_.try_emplace(&function);
    Sum &sum = found->second;
    if (is_new)
        for (const Instruction &instruction : instructions(function)) {
            const One one = look(const_cast<Instruction &>(instruction));
            sum.calls_mpi |= one.calls_mpi;
            sum.read.insert(one.read.begin(), one.read.end());
            sum.changed.insert(one.changed.begin(), one.changed.end());
            sum.called.insert(one.called.begin(), one.called.end());
        }
    return sum;
}

const Touches::Sum &Touches::with_called(const Function &function) {
    if (const auto known = with_called_.find(&function); known != with_called_.end())
        return known->second;
    Sum all;
    SmallVector<const Function *, 8> next = {&function};
    all.called.insert(&function);
    while (!next.empty()) {
        const Sum &one = alone(*next.pop_back_val());
        all.calls_mpi |= one.calls_mpi;
        all.read.insert(one.read.begin(), one.read.end());
        all.changed.insert(one.changed.begin(), one.changed.end());
        for (const Function *called : one.called)
            if (all.called.insert(called).second)
                next.push_back(called);
    }
    return with_called_[&function] = std::move(all);
}

bool Touches::is_used(const One &one, const Guarded &guarded) {
    const auto meets = [](const auto &touched, const Guarded::Set &set) {
        return any_of(set, [&](const Value *object) { return is_contained(touched, object); });
    };
    const auto is_met = [&](const auto &read, const auto &changed) {
        return meets(read, guarded.objects) || meets(changed, guarded.objects) ||
               meets(changed, guarded.variables);
    };
    return (one.ends_function && guarded.ends_with_function) || is_met(one.read, one.changed) ||
           any_of(one.called, [&](const Function *called) {
               const Sum &sum = with_called(*called);
               return is_met(sum.read, sum.changed);
           });
}

bool Touches::is_touched(const One &one, const Guarded &guarded) {
    return one.calls_mpi || is_used(one, guarded) ||
           any_of(one.called,
                  [&](const Function *called) { return with_called(*called).calls_mpi; });
}

void Touches::forget(const Function &changed) {
    for (const BasicBlock &block : changed)
        blocks_.erase(&block);
    alone_.erase(&changed);
    with_called_.clear();
}

} // namespace sennit::pass
