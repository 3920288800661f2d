// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include "mpi_calls.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {
namespace {

using namespace llvm;

bool is_shown(const Value &memory) {
    return PointerMayBeCaptured(&memory, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

SmallVector<const Value *, 4> objects_of(const Value *pointer) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    return objects;
}

} // namespace

bool Buffers::shows_own_memory(const Instruction &at) const {
    if (const Argument *memory = task_memory(entry_); memory && is_shown(*memory))
        return true;
    for (const Instruction &instruction : instructions(entry_))
        if (isa<AllocaInst>(instruction) && !aliases_.hides(instruction, at))
            return true;
    return false;
}

std::string Buffers::ends_with_body(const Value *buffer) const {
    for (const Value *object : objects_of(buffer)) {
        if (isa<AllocaInst>(object))
            return "its buffer is on the task's stack";
        if (object == task_memory(entry_))
            return "its buffer is a private copy of the task's";
        if (const auto *global = dyn_cast<GlobalVariable>(object)) {
            if (global->isThreadLocal())
                return "its buffer belongs to a thread";
            if (is_fortran_address(global))
                return "its buffer is given by absolute addresses";
            continue;
        }
        if (const auto *call = dyn_cast<IntrinsicInst>(object))
            return call->getIntrinsicID() == Intrinsic::threadlocal_address
                       ? "its buffer belongs to a thread"
                       : "nothing is known of its buffer";
        if (isa<ConstantPointerNull>(object))
            return "its buffer is given by absolute addresses";
        if (!isa<LoadInst>(object) && !isa<CallBase>(object))
            return "nothing is known of its buffer";
        if (shows_own_memory(*cast<Instruction>(object)))
            return "its buffer may be the task's own memory, whose address others know";
    }
    return "";
}

bool Buffers::disjoint(const Value *one, const Value *other) const {
    for (const Value *first : objects_of(one))
        for (const Value *second : objects_of(other))
            if (first == second || aliases_.results().alias(MemoryLocation::getBeforeOrAfter(first),
                                                            MemoryLocation::getBeforeOrAfter(
                                                                second)) != AliasResult::NoAlias)
                return false;
    return true;
}

bool Buffers::touched_by(const CallBase &call, const Value *memory, bool reads) const {
    return any_of(objects_of(memory), [&](const Value *object) {
        const ModRefInfo how =
            aliases_.results().getModRefInfo(&call, MemoryLocation::getBeforeOrAfter(object));
        return reads ? isModOrRefSet(how) : isModSet(how);
    });
}

bool Buffers::hidden_from(const CallBase &call, const Value *memory) const {
    return all_of(objects_of(memory),
                  [&](const Value *object) {
                      return !isa<Argument>(object) && aliases_.hides(*object, call);
                  }) &&
           all_of(call.args(), [&](const Use &argument) {
               return !argument->getType()->isPointerTy() || ignores_status(argument) ||
                      disjoint(argument, memory);
           });
}

bool Buffers::is_absolute(const Value *buffer) {
    return any_of(objects_of(buffer), [](const Value *object) {
        return isa<ConstantPointerNull, UndefValue>(object) || is_fortran_address(object) ||
               (isa<ConstantExpr>(object) && !isa<GlobalValue>(object));
    });
}

bool Buffers::of_one_object(const Value *one, const Value *other) {
    return any_of(objects_of(one),
                  [&](const Value *object) { return is_contained(objects_of(other), object); });
}

const AllocaInst *Buffers::own_variable(const Value *pointer, const Instruction *at) const {
    const auto *variable = dyn_cast<AllocaInst>(getUnderlyingObject(pointer, 0));
    if (!variable || (at ? !aliases_.hides(*variable, *at) : is_shown(*variable)))
        return nullptr;
    return variable;
}

} // namespace sennit::pass
