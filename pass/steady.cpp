// SPDX-License-Identifier: Apache-2.0
#include "steady.h"

#include "task_entries.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <cstdint>
#include <optional>

namespace sennit::pass {

using namespace llvm;

namespace {

bool calls(const CallBase &call, StringRef name) {
    const Function *called = call.getCalledFunction();
    return called && called->getName() == name;
}

// __kmpc_fork_call(where, count, function, arguments...): the function gets two numbers in front.
constexpr unsigned kForked = 2, kFirstForked = 3;

const Function *forked_by(const CallBase &call) {
    return calls(call, "__kmpc_fork_call")
               ? dyn_cast<Function>(call.getArgOperand(kForked)->stripPointerCasts())
               : nullptr;
}

// Is it `main`, or called by nothing else? With `forks` parallel regions count as calls.
bool is_run_by_main(const Function &function, bool forks, SmallPtrSetImpl<const Function *> &seen) {
    if (function.getName() == "main" || !seen.insert(&function).second)
        return true;
    return function.hasLocalLinkage() && all_of(function.uses(), [&](const Use &use) {
               const auto *call = dyn_cast<CallBase>(use.getUser());
               return call && (call->isCallee(&use) || (forks && forked_by(*call) == &function)) &&
                      is_run_by_main(*call->getFunction(), forks, seen);
           });
}

bool is_run_by_main(const Function &function, bool forks) {
    SmallPtrSet<const Function *, 8> seen;
    return is_run_by_main(function, forks, seen);
}

// All uses of one variable's address.
class Uses {
  public:
    // Does nobody write it but the function that has it, or, of a global one, what `main` runs?
    bool are_steady(const Value &variable) {
        return are_steady(variable,
                          isa<GlobalVariable>(variable) ? std::nullopt : std::optional(false));
    }

  private:
    // `by_others`: in a parallel region or a task. None: it has to be looked where each use is.
    bool are_steady(const Value &address, std::optional<bool> by_others) {
        if (!seen_.insert({&address, by_others.value_or(false)}).second)
            return true;
        return all_of(address.uses(), [&](const Use &use) {
            if (isa<GEPOperator>(use.getUser()) && isa<Constant>(use.getUser()))
                return are_steady(*use.getUser(), by_others);
            const auto *instruction = dyn_cast<Instruction>(use.getUser());
            return instruction &&
                   is_steady(
                       use, *instruction,
                       by_others.value_or(!by_others && !is_run_by_main(*instruction->getFunction(),
                                                                        /*forks=*/false)));
        });
    }

    bool is_steady(const Use &use, const Instruction &user, bool by_others) {
        if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(user))
            return user.getType()->isPointerTy() && are_steady(user, by_others);
        if (isa<LoadInst, ICmpInst>(user))
            return true;
        if (const auto *store = dyn_cast<StoreInst>(&user))
            return use.getOperandNo() == StoreInst::getPointerOperandIndex()
                       ? !by_others
                       : is_steady_in_task(*store);
        const auto *call = dyn_cast<CallBase>(&user);
        return call && is_steady_in_call(use, *call, by_others);
    }

    bool is_steady_in_call(const Use &use, const CallBase &call, bool by_others) {
        if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd() || isa<AssumeInst>(call))
            return true;
        const Function *called = call.getCalledFunction();
        if (!called || !call.isArgOperand(&use))
            return false;
        const unsigned number = call.getArgOperandNo(&use);
        if (const Function *forked = forked_by(call)) {
            const unsigned argument = number - kFirstForked + 2;
            return number >= kFirstForked && !forked->isDeclaration() &&
                   argument < forked->arg_size() && are_steady(*forked->getArg(argument), true);
        }
        if (!called->isDeclaration())
            return called->hasExactDefinition() && number < called->arg_size() &&
                   are_steady(*called->getArg(number), by_others);
        return call.doesNotCapture(number) &&
               (!by_others || call.onlyReadsMemory(number) || call.onlyReadsMemory());
    }

    // Its address becomes the task's: a shared variable's, or a copy of a pointer.
    bool is_steady_in_task(const StoreInst &store) {
        constexpr unsigned kEntry = 5; // the argument of __kmpc_omp_task_alloc
        const DataLayout &layout = store.getDataLayout();
        std::int64_t at = 0, shared_at = 0;
        const Value *base = GetPointerBaseWithConstantOffset(store.getPointerOperand(), at, layout);
        const auto *shared = dyn_cast<LoadInst>(base);
        if (shared)
            base = GetPointerBaseWithConstantOffset(shared->getPointerOperand(), shared_at, layout);
        const auto *made = dyn_cast<CallBase>(base);
        if (!made || !calls(*made, "__kmpc_omp_task_alloc") || shared_at != 0)
            return false;
        auto *entry = dyn_cast<Function>(made->getArgOperand(kEntry)->stripPointerCasts());
        const Argument *memory = entry && !entry->isDeclaration() ? task_memory(*entry) : nullptr;
        const bool is_plain = all_of(made->users(), [&](const User *user) {
            const auto *call = dyn_cast<CallBase>(user); // else a taskloop copies tasks
            const Function *called = call ? call->getCalledFunction() : nullptr;
            return !call || called == entry ||
                   (called && called->getName().starts_with("__kmpc_omp_task"));
        });
        if (!memory || !is_plain)
            return false;
        const auto only_reads = [&](const LoadInst &load) { return are_steady(load, true); };
        if (!shared)
            return all_loads(*memory, at, only_reads);
        return all_loads(*memory, 0,
                         [&](const LoadInst &load) { return all_loads(load, at, only_reads); });
    }

    // Of what is `at` bytes behind `memory`, which the compiler has laid out. False: `memory` goes
    // elsewhere, too.
    static bool all_loads(const Value &memory, std::int64_t at,
                          function_ref<bool(const LoadInst &)> visit) {
        return all_of(memory.users(), [&](const User *user) {
            const auto *instruction = dyn_cast<Instruction>(user);
            if (const auto *load = dyn_cast_or_null<LoadInst>(instruction)) {
                const auto bytes = static_cast<std::int64_t>(
                    load->getDataLayout().getTypeStoreSize(load->getType()));
                return at == 0 ? load->getType()->isPointerTy() && visit(*load)
                               : at < 0 || at >= bytes;
            }
            if (const auto *store = dyn_cast_or_null<StoreInst>(instruction))
                return store->getValueOperand() != &memory;
            if (const auto *place = dyn_cast_or_null<GetElementPtrInst>(instruction)) {
                const DataLayout &layout = place->getDataLayout();
                APInt distance(layout.getIndexTypeSizeInBits(place->getType()), 0);
                return place->accumulateConstantOffset(layout, distance) &&
                       all_loads(*place, at - distance.getSExtValue(), visit);
            }
            const auto *call = dyn_cast_or_null<CallBase>(instruction);
            const Function *called = call ? call->getCalledFunction() : nullptr;
            return called && (call->isDebugOrPseudoInst() || call->isLifetimeStartOrEnd() ||
                              called->getName().starts_with("__kmpc_omp_task"));
        });
    }

    SmallDenseSet<PointerIntPair<const Value *, 1, bool>, 16> seen_;
};

} // namespace

bool Steady::is_steady(const Value &object, const Function &reader) {
    const std::pair key(&object, &reader);
    if (const auto known = known_.find(key); known != known_.end())
        return known->second;
    known_[key] = false; // of a region that begins itself
    return known_[key] = is_found_steady(object, reader);
}

bool Steady::is_found_steady(const Value &object, const Function &reader) {
    if (const auto *global = dyn_cast<GlobalVariable>(&object))
        return global->isConstant() ||
               (global->hasLocalLinkage() && !global->isThreadLocal() &&
                is_run_by_main(reader, /*forks=*/true) && Uses().are_steady(*global));
    if (isa<AllocaInst>(object))
        return Uses().are_steady(object);
    const auto *argument = dyn_cast<Argument>(&object);
    if (!argument || !reader.hasLocalLinkage() || argument->getArgNo() < 2)
        return false;
    return !reader.use_empty() && all_of(reader.uses(), [&](const Use &use) {
        const auto *call = dyn_cast<CallBase>(use.getUser());
        const unsigned number = argument->getArgNo() - 2 + kFirstForked;
        return call && !call->isCallee(&use) && forked_by(*call) == &reader &&
               number < call->arg_size() &&
               is_steady(*getUnderlyingObject(call->getArgOperand(number), /*MaxLookup=*/0),
                         *call->getFunction());
    });
}

} // namespace sennit::pass
