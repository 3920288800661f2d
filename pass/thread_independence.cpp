// SPDX-License-Identifier: Apache-2.0
#include "thread_independence.h"

#include "mpi_calls.h"
#include "private_variable.h"
#include "remarks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;

bool is_of_a_thread(const Value *value) {
    const auto *constant = dyn_cast<Constant>(value);
    if (!constant)
        return false;
    if (const auto *global = dyn_cast<GlobalVariable>(constant))
        return global->isThreadLocal();
    return !isa<GlobalValue>(constant) &&
           any_of(constant->operands(), [](const Use &operand) { return is_of_a_thread(operand); });
}

bool is_only_noted(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call && (call->isDebugOrPseudoInst() || call->isLifetimeStartOrEnd() ||
                    isa<AssumeInst>(call) || isa<NoAliasScopeDeclInst>(call));
}

namespace {

// What a call does depends on its arguments and on shared memory.
class Calls {
  public:
    bool is_the_same_everywhere(const CallBase &call) {
        if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
            return intrinsic->getIntrinsicID() != Intrinsic::threadlocal_address &&
                   (isa<MemIntrinsic>(call) || call.doesNotAccessMemory() ||
                    call.onlyAccessesArgMemory() || is_only_noted(call) ||
                    is_contained({Intrinsic::stacksave, Intrinsic::stackrestore},
                                 intrinsic->getIntrinsicID()));
        const Function *function = call.getCalledFunction();
        if (!function)
            return false;
        if (!function->isDeclaration())
            return is_the_same_everywhere(*function);
        for (const char *name : {"__kmpc_global_thread_num", "__kmpc_critical",
                                 "__kmpc_end_critical", "__kmpc_atomic_", "__clang_call_terminate"})
            if (function->getName().starts_with(name))
                return true;
        return only_computes(function->getName());
    }

  private:
    bool is_the_same_everywhere(const Function &function) {
        if (function.isInterposable())
            return false;
        // One that is looked at already says nothing new of itself.
        if (const auto [at, fresh] = known_.insert({&function, true}); !fresh)
            return at->second;
        const bool same = all_of(instructions(function), [&](const Instruction &instruction) {
            const auto *call = dyn_cast<CallBase>(&instruction);
            return (!call || is_the_same_everywhere(*call)) &&
                   none_of(instruction.operands(),
                           [](const Use &operand) { return is_of_a_thread(operand); });
        });
        if (!same)
            known_[&function] = false;
        return same;
    }

    DenseMap<const Function *, bool> known_;
};

class Independence {
  public:
    Independence(const StaticRegion &region, const DominatorTree &dominators, const LoopInfo &loops)
        : region_(region), dominators_(dominators), loops_(loops) {}

    std::string obstacle() {
        for (const PHINode &phi : region_.loop->getHeader()->phis())
            if (!counts_iterations(phi))
                return "a value is kept from one iteration to the next";
        std::string reason;
        region_.each_instruction([&](const Instruction &instruction) {
            reason = obstacle_at(instruction);
            return reason.empty();
        });
        return reason;
    }

  private:
    // flang's: from 0, and used only with the bounds.
    bool counts_iterations(const PHINode &phi) const {
        for (const Use &use : phi.incoming_values())
            if (!region_.loop->contains(phi.getIncomingBlock(use))) {
                const auto *first = dyn_cast<ConstantInt>(use);
                if (!first || !first->isZero())
                    return false;
            }
        return all_of(phi.users(), [&](const User *user) {
            if (isa<ICmpInst>(user))
                return true;
            const auto *sum = dyn_cast<BinaryOperator>(user);
            if (!sum || sum->getOpcode() != Instruction::Add || sum->getOperand(0) != &phi)
                return false;
            const auto *one = dyn_cast<ConstantInt>(sum->getOperand(1));
            const auto *lower = dyn_cast<LoadInst>(sum->getOperand(1));
            return (one && one->isOne()) ||
                   (lower && lower->getPointerOperand() == region_.argument(StaticInit::kLower));
        });
    }

    std::string obstacle_at(const Instruction &instruction) {
        if (is_only_noted(instruction))
            return "";
        if (const auto *call = dyn_cast<IntrinsicInst>(&instruction);
            call && call->getIntrinsicID() == Intrinsic::threadlocal_address)
            return "each thread has " + call->getArgOperand(0)->getName().str() + " for itself";
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call && !calls_.is_the_same_everywhere(*call))
            return described(instruction) + " may depend on the thread";
        for (const User *user : instruction.users())
            if (!region_.contains(*cast<Instruction>(user)) &&
                !calls_openmp(*cast<Instruction>(user), "__kmpc_for_static_fini"))
                return "a value of its last iteration is wanted behind it";
        if (calls_openmp(instruction, "__kmpc_")) // which get the thread's number
            return "";
        for (const Use &operand : instruction.operands())
            if (std::string reason = obstacle_of(*operand, instruction); !reason.empty())
                return reason;
        return "";
    }

    std::string obstacle_of(const Value &value, const Instruction &user) {
        if (isa<Constant>(value))
            return is_of_a_thread(&value) ? "it uses a variable that each thread has for itself"
                                          : "";
        const auto *instruction = dyn_cast<Instruction>(&value);
        if (instruction && region_.contains(*instruction))
            return "";
        if (!instruction && !isa<Argument>(value))
            return ""; // a block, or something of the compiler's
        if (const auto *variable = dyn_cast<AllocaInst>(&value))
            return obstacle_of(*variable, user);
        return is_the_same(value) ? "" : described(user) + " uses what threads have for themselves";
    }

    static std::string title(const AllocaInst &variable) {
        const std::string name = name_of(&variable);
        return name.empty() ? "a variable" : name;
    }

    std::string obstacle_of(const AllocaInst &variable, const Instruction &user) {
        if (region_.is_bound(&variable))
            return "";
        const PrivateVariable uses(variable);
        if (region_.outlined && uses.holds_thread_number())
            return reads_thread_number(user) ? "" : described(user) + " uses the thread's number";
        const auto within = [&](const PrivateVariable::Access &access) {
            return region_.contains(*access.instruction);
        };
        if (all_of(uses.accesses(), within))
            return is_fresh(uses)
                       ? ""
                       : title(variable) + " may keep its value from one iteration to the next";
        if (uses.is_reduced())
            return uses.is_read_only_in(region_, dominators_)
                       ? ""
                       : "what a thread has added to " + title(variable) + " so far is used";
        if (any_of(uses.accesses(), [&](const PrivateVariable::Access &access) {
                return within(access) && access.kind != PrivateVariable::reads;
            }))
            return "each thread has " + title(variable) + " for itself, and the loop changes it";
        if (is_for_bounds(user))
            return "";
        seen_.clear();
        return is_the_same(variable) ? ""
                                     : "threads may have different values of " + title(variable);
    }

    // Does it read a bound of the loop, for the loop? That is the same in all threads, or else the
    // program is wrong. Only the compiler compares something with `upper`, writes it, and reads the
    // counter that begins with `lower`.
    bool is_for_bounds(const Instruction &load) const {
        const auto reads = [&](const Value *value, unsigned bound) {
            const auto *other = dyn_cast<LoadInst>(value);
            return other && other->getPointerOperand() == region_.argument(bound);
        };
        const auto goes_to_upper = [&](const User *user) {
            const auto *store = dyn_cast<StoreInst>(user);
            return store && store->getPointerOperand() == region_.argument(StaticInit::kUpper);
        };
        const auto is_of_counter = [&](const Value *value) {
            const auto *times = dyn_cast<BinaryOperator>(value);
            const auto *read = times ? dyn_cast<LoadInst>(times->getOperand(0)) : nullptr;
            const auto *counter = read ? dyn_cast<AllocaInst>(read->getPointerOperand()) : nullptr;
            return counter && times->getOpcode() == Instruction::Mul &&
                   isa<ConstantInt>(times->getOperand(1)) &&
                   PrivateVariable(*counter).counts_from(*region_.argument(StaticInit::kLower));
        };
        return isa<LoadInst>(load) && all_of(load.users(), [&](const User *user) {
                   if (const auto *compare = dyn_cast<ICmpInst>(user))
                       return reads(compare->getOperand(0), StaticInit::kUpper) &&
                              all_of(compare->users(),
                                     [](const User *next) { return isa<BranchInst>(next); });
                   if (isa<PHINode>(user))
                       return all_of(user->users(), goes_to_upper);
                   const auto *first = dyn_cast<BinaryOperator>(user);
                   return first && first->getOperand(0) == &load &&
                          is_of_counter(first->getOperand(1));
               });
    }

    // Does each iteration begin with no value of it?
    bool is_fresh(const PrivateVariable &uses) const {
        if (uses.counts_from(*region_.argument(StaticInit::kLower)) ||
            any_of(uses.begins(),
                   [&](const Instruction *begin) { return region_.loop->contains(begin); }))
            return true;
        if (!uses.is_plain())
            return false;
        SmallVector<const BasicBlock *, 8> next = {region_.loop->getHeader()};
        SmallPtrSet<const BasicBlock *, 8> seen = {region_.loop->getHeader()};
        for (const PrivateVariable::Access &access : uses.accesses())
            if (!region_.loop->contains(access.instruction))
                return false;
        while (!next.empty()) {
            const BasicBlock *block = next.pop_back_val();
            bool is_written = false;
            for (const Instruction &instruction : *block) {
                const auto kind = uses.kind_at(instruction);
                if (kind == PrivateVariable::reads)
                    return false;
                if ((is_written = kind == PrivateVariable::writes))
                    break;
            }
            for (const BasicBlock *after : successors(block))
                if (!is_written && region_.loop->contains(after) && seen.insert(after).second)
                    next.push_back(after);
        }
        return true;
    }

    // ---- outside of the loop ----------------------------------------------------------------

    bool is_the_same(const Value &value) {
        if (isa<Constant>(value))
            return !is_of_a_thread(&value);
        if (const auto *argument = dyn_cast<Argument>(&value))
            return region_.outlined && argument->getArgNo() > 1;
        const auto *instruction = dyn_cast<Instruction>(&value);
        if (!instruction || isa<AllocaInst>(value) ||
            !dominators_.dominates(instruction, region_.init) ||
            loops_.getLoopFor(instruction->getParent()))
            return false;
        if (const auto *load = dyn_cast<LoadInst>(instruction)) {
            if (!load->isUnordered() || load->isVolatile())
                return false;
            if (const auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand()))
                return is_the_same(*variable);
            return is_the_same(*load->getPointerOperand()) && nobody_has_written(*load);
        }
        if (const auto *call = dyn_cast<IntrinsicInst>(instruction))
            return call->doesNotAccessMemory() &&
                   call->getIntrinsicID() != Intrinsic::threadlocal_address && operands_are(*call);
        return isa<BinaryOperator, CastInst, CmpInst, SelectInst, GetElementPtrInst>(instruction) &&
               operands_are(*instruction);
    }

    bool operands_are(const User &user) {
        return all_of(user.operands(), [&](const Use &operand) {
            return (isa<Function>(operand) && isa<CallBase>(user)) || is_the_same(*operand);
        });
    }

    // Is what it holds when the loop begins?
    bool is_the_same(const AllocaInst &variable) {
        if (!seen_.insert(&variable).second)
            return true; // so it is, if the rest is
        return all_of(
            PrivateVariable(variable).accesses(), [&](const PrivateVariable::Access &access) {
                if (access.kind == PrivateVariable::reads)
                    return true;
                const auto *store = dyn_cast<StoreInst>(access.instruction);
                return access.kind == PrivateVariable::writes && store &&
                       access.place_is_constant && dominators_.dominates(store, region_.init) &&
                       !loops_.getLoopFor(store->getParent()) &&
                       is_the_same(*store->getValueOperand());
            });
    }

    // Back to the region's begin, or the last barrier: nothing by which other threads' writes may
    // have come, so that no thread may have written it.
    bool nobody_has_written(const Instruction &load) const {
        SmallVector<const Instruction *, 8> ends = {load.getPrevNode()};
        if (!ends[0] && load.getParent()->isEntryBlock())
            return region_.outlined;
        SmallPtrSet<const BasicBlock *, 8> seen;
        const auto enter = [&](const BasicBlock &block) {
            for (const BasicBlock *before : predecessors(&block))
                if (seen.insert(before).second)
                    ends.push_back(before->getTerminator());
        };
        if (!ends[0]) {
            ends.clear();
            enter(*load.getParent());
        }
        while (!ends.empty()) {
            const Instruction *at = ends.pop_back_val();
            const BasicBlock &block = *at->getParent();
            for (; at && !calls_openmp(*at, "__kmpc_barrier"); at = at->getPrevNode())
                if (at->isAtomic() || may_synchronize(*at))
                    return false;
            if (at)
                continue;
            if (block.isEntryBlock() && !region_.outlined)
                return false;
            enter(block);
        }
        return true;
    }

    static bool may_synchronize(const Instruction &instruction) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        return call && !is_only_noted(*call) && !call->doesNotAccessMemory() &&
               !isa<MemIntrinsic>(call) && !calls_openmp(*call, "__kmpc_global_thread_num") &&
               !calls_openmp(*call, "__kmpc_for_static_");
    }

    const StaticRegion &region_;
    const DominatorTree &dominators_;
    const LoopInfo &loops_;
    Calls calls_;
    SmallPtrSet<const AllocaInst *, 8> seen_;
};

} // namespace

std::string thread_dependence(const StaticRegion &region, const DominatorTree &dominators,
                              const LoopInfo &loops) {
    return Independence(region, dominators, loops).obstacle();
}

} // namespace sennit::pass
