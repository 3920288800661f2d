// SPDX-License-Identifier: Apache-2.0
// The plug-in for clang-19 and flang-new-19 (-fpass-plugin): what it does, and when.
//
//     before all     MPI's declarations say that blocking calls keep no pointer
//     at the end     calls that end tasks are bound, others batched; marks are written
//
// At the end the compiler has inlined what a task calls. Without optimization it has not, and local
// variables are in memory: nothing is bound then, but marks are written at every level.
#include "batching.h"
#include "marks_writer.h"
#include "mpi_calls.h"
#include "tail_binding.h"
#include "task_entries.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace {

using namespace llvm;
using namespace sennit::pass;

// MPI's blocking calls have done with their arguments when they return: so a buffer that only they
// have seen is nobody else's. They may write other memory, though: whatever is under way arrives.
class Declarations : public PassInfoMixin<Declarations> {
  public:
    static bool isRequired() { return true; }

    static PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
        for (Function &function : module)
            if (function.isDeclaration() && starts_operation(function.getName()) &&
                !function.arg_empty())
                function.getArg(static_cast<unsigned>(function.arg_size()) - 1)
                    ->addAttr(Attribute::NoCapture);
            else if (function.isDeclaration() && keeps_no_pointer(function.getName()))
                for (Argument &argument : function.args())
                    if (argument.getType()->isPointerTy())
                        argument.addAttr(Attribute::NoCapture);
        return PreservedAnalyses::all();
    }
};

class Transformation : public PassInfoMixin<Transformation> {
  public:
    explicit Transformation(bool optimized) : optimized_(optimized) {}
    static bool isRequired() { return true; }

    PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager) const {
        auto &functions =
            manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        const TaskEntries tasks = task_entries(module);
        bool changed = false;
        for (Function *task : tasks) {
            if (!optimized_ || task->hasOptNone())
                continue;
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(*task));
            changed |= bind_tail_calls(*task, functions.getResult<AAManager>(*task), remarks);
        }
        for (Function &function : module) {
            if (!optimized_ || function.isDeclaration() || function.hasOptNone() ||
                !sends(function))
                continue;
            // Loops have one way in, and ways out of their own.
            functions.invalidate(function, LoopSimplifyPass().run(function, functions));
            Remarks remarks(functions.getResult<OptimizationRemarkEmitterAnalysis>(function));
            changed |= batch_calls(function, functions.getResult<AAManager>(function),
                                   functions.getResult<LoopAnalysis>(function), remarks);
        }
        changed |= write_marks(module, tasks, Triple(module.getTargetTriple()));
        return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }

  private:
    // What has no call of interest costs no analysis.
    static bool sends(Function &function) {
        for (Instruction &instruction : instructions(function))
            if (const auto *call = dyn_cast<CallBase>(&instruction))
                if (point_to_point(*call))
                    return true;
        return false;
    }

    bool optimized_;
};

void add_passes(PassBuilder &builder) {
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(Declarations()); });
    builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel level) {
        passes.addPass(Transformation(level != OptimizationLevel::O0));
    });
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
