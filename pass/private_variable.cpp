// SPDX-License-Identifier: Apache-2.0
#include "private_variable.h"

#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;

namespace {

bool add_reduce_calls(const Value &list, SmallVectorImpl<const CallBase *> &calls) {
    return all_of(list.users(), [&](const User *user) {
        const auto *instruction = cast<Instruction>(user);
        if (const auto *call = dyn_cast<CallBase>(instruction)) {
            if (calls_openmp(*call, "__kmpc_reduce"))
                calls.push_back(call);
            return call->isLifetimeStartOrEnd() || calls_openmp(*call, "__kmpc_reduce");
        }
        if (isa<GetElementPtrInst, BitCastInst>(instruction))
            return add_reduce_calls(*instruction, calls);
        const auto *store = dyn_cast<StoreInst>(instruction);
        return store && store->getPointerOperand() == &list;
    });
}

// The calls that get this list of variables. None: it goes elsewhere, too.
SmallVector<const CallBase *, 2> reduce_calls(const Value *list) {
    SmallVector<const CallBase *, 2> calls;
    if (!list || !add_reduce_calls(*list, calls))
        calls.clear();
    return calls;
}

} // namespace

PrivateVariable::PrivateVariable(const AllocaInst &variable) : variable_(variable) {
    note(variable, true);
}

void PrivateVariable::note(const Value &pointer, bool place_is_constant) {
    for (const User *user : pointer.users()) {
        const auto *instruction = cast<Instruction>(user);
        const auto add = [&](Kind kind) {
            accesses_.push_back({instruction, kind, place_is_constant});
        };
        if (const auto *place = dyn_cast<GetElementPtrInst>(instruction)) {
            note(*place, place_is_constant && place->hasAllConstantIndices());
        } else if (isa<BitCastInst, AddrSpaceCastInst>(instruction)) {
            note(*instruction, place_is_constant);
        } else if (const auto *load = dyn_cast<LoadInst>(instruction)) {
            add(load->isVolatile() ? shows : reads);
        } else if (const auto *store = dyn_cast<StoreInst>(instruction)) {
            const auto *list =
                dyn_cast<AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets());
            const auto calls = reduce_calls(list);
            if (store->getValueOperand() != &pointer) {
                add(store->isVolatile() ? shows : writes);
            } else if (!calls.empty()) {
                reductions_.append(calls);
                add(lists);
            } else {
                add(shows);
            }
        } else if (const auto *call = dyn_cast<CallBase>(instruction)) {
            if (const auto *marker = dyn_cast<IntrinsicInst>(call);
                marker && marker->getIntrinsicID() == Intrinsic::lifetime_start)
                begins_.push_back(marker);
            else if (const auto *copy = dyn_cast<MemIntrinsic>(call))
                add(copy->getRawDest() == &pointer ? writes : reads);
            else if (!call->isLifetimeStartOrEnd() && !call->isDebugOrPseudoInst())
                add(shows);
        } else {
            add(shows);
        }
    }
}

PrivateVariable::Kind PrivateVariable::kind_at(const Instruction &instruction) const {
    for (const Access &access : accesses_)
        if (access.instruction == &instruction)
            return access.kind;
    return nothing;
}

bool PrivateVariable::is_plain() const {
    return variable_.getAllocatedType()->isSingleValueType() && !variable_.isArrayAllocation() &&
           all_of(accesses_, [&](const Access &access) {
               const auto *store = dyn_cast<StoreInst>(access.instruction);
               const Type *type =
                   store ? store->getValueOperand()->getType() : access.instruction->getType();
               return (access.kind == reads || access.kind == writes) &&
                      getLoadStorePointerOperand(access.instruction) == &variable_ &&
                      type == variable_.getAllocatedType();
           });
}

bool PrivateVariable::holds_thread_number() const {
    const auto is_number = [](const StoreInst &store) {
        const auto *argument = dyn_cast<Argument>(store.getValueOperand());
        return argument && argument->getArgNo() <= 1;
    };
    bool any = false;
    return all_of(accesses_,
                  [&](const Access &access) {
                      const auto *store = dyn_cast<StoreInst>(access.instruction);
                      any |= store != nullptr;
                      return access.kind == reads ||
                             (access.kind == writes && store && is_number(*store));
                  }) &&
           any;
}

bool PrivateVariable::counts_from(const Value &lower) const {
    return is_plain() && any_of(accesses_, [&](const Access &access) {
               const auto *store = dyn_cast<StoreInst>(access.instruction);
               const auto *value = store ? dyn_cast<LoadInst>(store->getValueOperand()) : nullptr;
               return value && value->getPointerOperand() == &lower;
           });
}

bool PrivateVariable::is_reduced() const {
    return !reductions_.empty() &&
           none_of(accesses_, [](const Access &access) { return access.kind == shows; });
}

bool PrivateVariable::is_read_only_in(const StaticRegion &region,
                                      const DominatorTree &dominators) const {
    return all_of(accesses_, [&](const Access &access) {
        return access.kind != reads || region.contains(*access.instruction) ||
               any_of(reductions_, [&](const CallBase *call) {
                   return dominators.dominates(call, access.instruction);
               });
    });
}

} // namespace sennit::pass
