// SPDX-License-Identifier: Apache-2.0
#include "marks_writer.h"

#include "mpi_calls.h"
#include "tasks/program/marks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cstdint>
#include <cstring>

namespace sennit::pass {
namespace {

using namespace llvm;
using namespace program::note;

// Of a function, and, once calls within the file are followed, of all that it leads to.
struct Summary {
    std::uint32_t flags = 0;
    SmallSetVector<Function *, 8> elsewhere; // other files define them, or may replace them
    SmallSetVector<Function *, 8> here;

    // Is it more now?
    bool take(const Summary &other) {
        const std::uint32_t flags_before = flags;
        const std::size_t calls_before = elsewhere.size();
        flags |= other.flags;
        elsewhere.insert(other.elsewhere.begin(), other.elsewhere.end());
        return flags != flags_before || elsewhere.size() != calls_before;
    }
};

class Marks {
  public:
    Marks(Module &module, const Triple &target) : module_(module), library_(target) {
        for (Function &function : module)
            if (!function.isDeclaration())
                order_.push_back(&function);
        for (Function *function : order_)
            summaries_[function] = summary_of(*function);
        follow_calls();
    }

    bool write(const TaskEntries &tasks) {
        for (Function *function : order_)
            if (tasks.contains(function) ||
                (!function->hasLocalLinkage() && !function->hasAvailableExternallyLinkage()))
                add_record(*function);
        if (words_.empty())
            return false;
        emit();
        return true;
    }

  private:
    static bool can_be_replaced(const Function &function) { return !function.isDefinitionExact(); }

    Summary summary_of(Function &function) {
        Summary summary;
        for (Instruction &instruction : instructions(function))
            if (auto *call = dyn_cast<CallBase>(&instruction))
                add_call(summary, *call);
        return summary;
    }

    void add_call(Summary &summary, CallBase &call) {
        if (const PointToPoint *bound = bound_point_to_point(call)) {
            summary.flags |= bound->receives ? kReceives : kSends; // but it does not block
            return;
        }
        if (is_bound(call))
            return; // a wait
        Function *called = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
        if (!called) {
            summary.flags |= kUnknown;
            return;
        }
        if (called->isIntrinsic())
            return;
        if (!called->isDeclaration() && !can_be_replaced(*called)) {
            summary.here.insert(called);
            return;
        }
        LibFunc known;
        if (const Effects effects = effects_of(called->getName()); effects.known || effects.flags)
            summary.flags |= effects.flags;
        else if (!library_.getLibFunc(*called, known)) // libc's neither wait nor send
            summary.elsewhere.insert(called);
    }

    // Until nothing is added: the sets only grow.
    void follow_calls() {
        for (bool changed = true; changed;) {
            changed = false;
            for (Function *function : order_) {
                Summary &summary = summaries_[function];
                for (Function *called : summary.here)
                    if (called != function)
                        changed |= summary.take(summaries_[called]);
            }
        }
    }

    void add_record(Function &function) {
        Summary &summary = summaries_[&function];
        std::size_t calls = summary.elsewhere.size();
        if (calls > kMostCalls) {
            summary.flags |= kUnknown;
            calls = 0;
        }
        static_assert(kFunction == 0 && kFlags == 1 && kCalls == 2); // in this order
        add_distance(function);
        words_.push_back(word(flags_word(summary.flags, static_cast<std::uint32_t>(calls))));
        for (std::size_t i = 0; i < calls; ++i)
            add_distance(*summary.elsewhere[i]);
    }

    ConstantInt *word(std::uint32_t value) {
        return ConstantInt::get(Type::getInt32Ty(module_.getContext()), value);
    }

    // Filled in when the note has its place.
    void add_distance(Function &function) {
        distances_.push_back({words_.size(), &function});
        words_.push_back(word(0));
    }

    // Names that other objects may define as well are reached through a stub; but this file's own
    // function itself, unless the linker may take another file's.
    static Constant *reached_from_here(Function &function) {
        if (function.isDSOLocal())
            return &function;
        if (function.isDeclaration() || function.isWeakForLinker())
            return DSOLocalEquivalent::get(&function);
        return GlobalAlias::create(GlobalValue::InternalLinkage,
                                   "sennit.marked." + function.getName(), &function);
    }

    void emit() {
        LLVMContext &context = module_.getContext();
        Type *word_type = Type::getInt32Ty(context);
        Type *long_type = Type::getInt64Ty(context);
        constexpr std::size_t kHead = 5; // three words and the name
        static_assert(sizeof kName == 7);
        auto *type = ArrayType::get(word_type, kHead + words_.size());
        auto *note = new GlobalVariable(module_, type, /*isConstant=*/true,
                                        GlobalValue::PrivateLinkage, nullptr, "sennit.marks");
        note->setSection(kSection);
        note->setAlignment(Align(4));
        note->setDSOLocal(true);
        for (const auto &[at, function] : distances_) {
            Constant *here = ConstantExpr::getInBoundsGetElementPtr(
                type, note,
                ArrayRef<Constant *>{ConstantInt::get(long_type, 0),
                                     ConstantInt::get(long_type, kHead + at)});
            Constant *there = reached_from_here(*function);
            words_[at] = ConstantExpr::getTrunc(
                ConstantExpr::getSub(ConstantExpr::getPtrToInt(there, long_type),
                                     ConstantExpr::getPtrToInt(here, long_type)),
                word_type);
        }
        std::uint32_t name[2] = {};
        std::memcpy(name, kName, sizeof kName);
        SmallVector<Constant *, 32> all = {word(sizeof kName),
                                           word(static_cast<std::uint32_t>(words_.size() * 4)),
                                           word(kRecords), word(name[0]), word(name[1])};
        all.append(words_.begin(), words_.end());
        note->setInitializer(ConstantArray::get(type, all));
        appendToCompilerUsed(module_, {note});
    }

    Module &module_;
    TargetLibraryInfoImpl library_;
    SmallVector<Function *, 32> order_;
    DenseMap<Function *, Summary> summaries_;
    SmallVector<Constant *, 32> words_;
    SmallVector<std::pair<std::size_t, Function *>, 16> distances_;
};

} // namespace

bool write_marks(Module &module, const TaskEntries &tasks, const Triple &target) {
    return Marks(module, target).write(tasks);
}

} // namespace sennit::pass
