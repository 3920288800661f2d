// SPDX-License-Identifier: Apache-2.0
// The plug-in for clang-19 and flang-new-19 (-fpass-plugin): what it does, and when.
//
//     before all     MPI's declarations say that blocking calls keep no pointer; static loops are
//                    let go; Fortran's MPI calls are given C's shape
//     in between     calls that end tasks are bound; undeferred tasks that only exchange messages
//                    are deferred, if the program is compiled for that; other calls are batched and
//                    waited for later
//     at the end     what is left of Fortran's calls becomes what it was; collective calls are
//                    replaced, if the program is compiled for that; marks are written
//
// In between the compiler has inlined what a task calls, and loops are as simple as they get:
// neither vectorized nor unrolled. Without optimization it has done nothing, and local variables
// are in memory: only the last step is taken then.
#include "any_thread.h"
#include "batching.h"
#include "collectives.h"
#include "fortran_calls.h"
#include "marks_writer.h"
#include "mpi_calls.h"
#include "static_loops.h"
#include "tail_binding.h"
#include "task_entries.h"
#include "undeferred.h"
#include "waits_with_exchanges.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace {

using namespace llvm;
using namespace sennit::pass;

// MPI's blocking calls, and BLAS, have done with their arguments when they return: so a buffer that
// only they have seen is nobody else's. MPI's may write other memory, though: whatever is under way
// arrives.
class Declarations : public PassInfoMixin<Declarations> {
  public:
    static bool isRequired() { return true; }

    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
        for (Function &function : module)
            if (function.isDeclaration() && starts_operation(function.getName()) &&
                !function.arg_empty())
                function.getArg(static_cast<unsigned>(function.arg_size()) - 1)
                    ->addAttr(Attribute::NoCapture);
            else if ((function.isDeclaration() && keeps_no_pointer(function.getName())) ||
                     is_linear_algebra(function))
                for (Argument &argument : function.args())
                    if (argument.getType()->isPointerTy())
                        argument.addAttr(Attribute::NoCapture);
        declare_error_codes(module);
        return PreservedAnalyses::all();
    }
};

class FortranCalls : public PassInfoMixin<FortranCalls> {
  public:
    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
        return give_fortran_calls_shape(module) ? PreservedAnalyses::none()
                                                : PreservedAnalyses::all();
    }
};

class UndeferredTasks : public PassInfoMixin<UndeferredTasks> {
  public:
    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
        if (!detaches_undeferred())
            return PreservedAnalyses::all();
        keep_undeferred_tasks(task_entries(module));
        return PreservedAnalyses::none();
    }
};

class LoopLending : public PassInfoMixin<LoopLending> {
  public:
    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager) {
        auto &functions =
            manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        bool changed = false;
        for (Function &function : module) {
            if (function.isDeclaration() || function.hasOptNone() || !has_static_loops(function))
                continue;
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(function));
            changed |=
                lend_static_loops(function, functions.getResult<DominatorTreeAnalysis>(function),
                                  functions.getResult<LoopAnalysis>(function), remarks);
        }
        return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
};

class Transformation : public PassInfoMixin<Transformation> {
  public:
    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager) {
        auto &functions =
            manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        bool changed = detaches_undeferred() && make_tasks(module, functions);
        const TaskEntries tasks = task_entries(module);
        for (Function *task : tasks) {
            if (task->hasOptNone())
                continue;
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(*task));
            Aliases aliases = aliases_of(*task, functions);
            changed |= bind_tail_calls(*task, aliases, remarks);
        }
        if (detaches_undeferred())
            changed |= detach(module, tasks, functions);
        for (Function &function : module) {
            if (function.isDeclaration() || function.hasOptNone() || !sends(function))
                continue;
            // Loops have one way in, and ways out of their own.
            functions.invalidate(function, LoopSimplifyPass().run(function, functions));
            if (join_same_values(function, functions.getResult<DominatorTreeAnalysis>(function)))
                functions.invalidate(function, PreservedAnalyses::none());
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(function));
            Aliases aliases = aliases_of(function, functions);
            changed |= batch_calls(function,
                                   {aliases, functions.getResult<LoopAnalysis>(function),
                                    functions.getResult<DominatorTreeAnalysis>(function),
                                    functions.getResult<ScalarEvolutionAnalysis>(function)},
                                   remarks, !is_contained(tasks, &function));
        }
        changed |= let_tasks_go_anywhere(module, [&](Function &function) {
            return Remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(function));
        });
        return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }

  private:
    static bool make_tasks(Module &module, FunctionAnalysisManager &functions) {
        SmallVector<Function *, 16> creators;
        for (Function &function : module)
            if (!function.isDeclaration() && !function.hasOptNone())
                creators.push_back(&function);
        Steady steady;
        const TaskEntries tasks = task_entries(module);
        Touches touches(tasks);
        bool changed = false;
        for (Function *creator : creators) {
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(*creator));
            if (make_tasks_of_waits(*creator, functions.getResult<DominatorTreeAnalysis>(*creator),
                                    steady, touches, remarks)) {
                touches.forget(*creator);
                functions.invalidate(*creator, PreservedAnalyses::none());
                changed = true;
            }
        }
        return changed;
    }

    static bool detach(Module &module, const TaskEntries &tasks,
                       FunctionAnalysisManager &functions) {
        Touches touches(tasks);
        bool changed = false;
        for (Function &function : module) {
            if (function.isDeclaration() || function.hasOptNone())
                continue;
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(function));
            if (detach_undeferred_tasks(function, tasks, touches,
                                        functions.getResult<LoopAnalysis>(function), remarks)) {
                touches.forget(function);
                functions.invalidate(function, PreservedAnalyses::none());
                changed = true;
            }
        }
        return changed;
    }

    static Aliases aliases_of(Function &function, FunctionAnalysisManager &manager) {
        return {manager.getResult<AAManager>(function),
                manager.getResult<DominatorTreeAnalysis>(function),
                manager.getResult<LoopAnalysis>(function)};
    }

    // What has been computed twice, on either way to a block, is computed in that block: often that
    // is a loop's next index, without which nothing is known of the loop, or a wider number.
    static bool join_same_values(Function &function, const DominatorTree &dominators) {
        bool changed = false;
        for (BasicBlock &block : function)
            for (PHINode &phi : make_early_inc_range(block.phis())) {
                const auto *first = dyn_cast<Instruction>(phi.getIncomingValue(0));
                if (!first || (first->getOpcode() != Instruction::Add && !isa<CastInst>(first)) ||
                    phi.getNumIncomingValues() < 2)
                    continue;
                const bool same = all_of(phi.incoming_values(), [&](const Value *value) {
                    const auto *other = dyn_cast<Instruction>(value);
                    return other && other->isSameOperationAs(first) &&
                           equal(other->operands(), first->operands());
                });
                if (!same || !all_of(first->operands(), [&](const Value *operand) {
                        return !isa<Instruction>(operand) ||
                               dominators.dominates(cast<Instruction>(operand), &block);
                    }))
                    continue;
                Instruction *again = first->clone();
                for (const Value *value : phi.incoming_values())
                    again->andIRFlags(value);
                again->insertInto(&block, block.getFirstInsertionPt());
                phi.replaceAllUsesWith(again);
                phi.eraseFromParent();
                changed = true;
            }
        return changed;
    }

    // What has no call of interest costs no analysis.
    static bool sends(Function &function) {
        for (Instruction &instruction : instructions(function))
            if (const auto *call = dyn_cast<CallBase>(&instruction))
                if (point_to_point(*call) || is_exchange(*call) || collective(*call))
                    return true;
        return false;
    }
};

// What is done at every level of optimization.
class Ending : public PassInfoMixin<Ending> {
  public:
    static bool isRequired() { return true; }

    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
        bool changed = restore_fortran_calls(module);
        changed |= replace_collectives(module);
        return write_marks(module, task_entries(module), Triple(module.getTargetTriple())) ||
                       changed
                   ? PreservedAnalyses::none()
                   : PreservedAnalyses::all();
    }
};

void add_passes(PassBuilder &builder) {
    builder.registerPipelineStartEPCallback([](ModulePassManager &passes, OptimizationLevel level) {
        passes.addPass(Declarations());
        if (level == OptimizationLevel::O0)
            return;
        passes.addPass(LoopLending());
        passes.addPass(FortranCalls());
        passes.addPass(UndeferredTasks());
    });
    builder.registerOptimizerEarlyEPCallback(
        [](ModulePassManager &passes, OptimizationLevel level) {
            if (level != OptimizationLevel::O0)
                passes.addPass(Transformation());
        });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(Ending()); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
llvmGetPassPluginInfo() {
    // Another LLVM's classes are laid out otherwise. A compiler refuses a plug-in of no version.
    unsigned major = 0;
    LLVMGetVersion(&major, nullptr, nullptr);
    if (major != LLVM_VERSION_MAJOR)
        return {0, "sennit, for LLVM " LLVM_VERSION_STRING, LLVM_VERSION_STRING, add_passes};
    return {LLVM_PLUGIN_API_VERSION, "sennit", LLVM_VERSION_STRING, add_passes};
}
