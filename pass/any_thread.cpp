// SPDX-License-Identifier: Apache-2.0
#include "any_thread.h"

#include "mpi_calls.h"
#include "thread_independence.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace sennit::pass {

using namespace llvm;

namespace {

// The arguments of __kmpc_omp_task_alloc, and bits of its flags.
constexpr unsigned kFlags = 2;
constexpr unsigned kEntry = 5;
constexpr std::uint64_t kTied = 1;
constexpr std::uint64_t kKnowsNoThread = 1U << 15; // src/openmp/kmp/tasks.h

bool is_one_of(StringRef name, ArrayRef<StringRef> names) {
    return is_contained(names, name);
}

bool starts_with_one_of(StringRef name, ArrayRef<StringRef> starts) {
    return any_of(starts, [&](StringRef start) { return name.starts_with(start); });
}

// Not those that are for the main thread, or tell whether it is.
bool is_mpi_for_any_thread(StringRef name) {
    return name.starts_with("MPI_") &&
           !starts_with_one_of(name, {"MPI_Init", "MPI_Finalize", "MPI_Is_thread_main",
                                      "MPI_Query_thread", "MPI_Session_", "MPI_T_"});
}

// Calls in which a task is suspended.
bool may_suspend(StringRef name) {
    return is_one_of(name, {"MPI_Send",     "MPI_Ssend",     "MPI_Rsend",
                            "MPI_Recv",     "MPI_Sendrecv",  "MPI_Sendrecv_replace",
                            "MPI_Wait",     "MPI_Waitall",   "MPI_Waitany",
                            "MPI_Waitsome", "MPI_Probe",     "MPI_Mprobe",
                            "MPI_Mrecv",    "MPI_Barrier",   "MPI_Bcast",
                            "MPI_Reduce",   "MPI_Allreduce", "MPI_Gather",
                            "MPI_Scatter",  "MPI_Allgather", "MPI_Alltoall"}) ||
           starts_with_one_of(name,
                              {"sennit_pass_finish", "sennit_pass_receive", "sennit_pass_send",
                               "sennit_pass_exchange", "sennit_pass_fortran_receive",
                               "sennit_pass_fortran_send", "sennit_pass_fortran_exchange"});
}

// What the function does, and gives, is the same whichever thread calls it.
bool is_for_any_thread(StringRef name) {
    return is_mpi_for_any_thread(name) || may_suspend(name) || only_computes(name) ||
           starts_with_one_of(name, {"__kmpc_atomic_", "__kmpc_critical", "sennit_pass_touch",
                                     "sennit_pass_apart", "sennit_pass_part", "sennit_pass_stays",
                                     "sennit_pass_find_extent", "sennit_pass_fortran_apart"}) ||
           is_one_of(name, {"__kmpc_global_thread_num",
                            "__kmpc_end_critical",
                            "__kmpc_omp_taskwait",
                            "__kmpc_omp_taskyield",
                            "__kmpc_omp_task_alloc",
                            "__kmpc_omp_task",
                            "__kmpc_omp_task_with_deps",
                            "__kmpc_flush",
                            "__clang_call_terminate",
                            "abort",
                            "calloc",
                            "exit",
                            "fflush",
                            "fprintf",
                            "fputc",
                            "fputs",
                            "free",
                            "fwrite",
                            "malloc",
                            "memchr",
                            "memcmp",
                            "memcpy",
                            "memmove",
                            "memset",
                            "printf",
                            "putchar",
                            "puts",
                            "realloc",
                            "strchr",
                            "strcmp",
                            "strlen",
                            "strncmp",
                            "__fprintf_chk",
                            "__memcpy_chk",
                            "__memmove_chk",
                            "__memset_chk",
                            "__printf_chk",
                            "_Znwm",
                            "_Znam",
                            "_ZdlPv",
                            "_ZdlPvm",
                            "_ZdaPv",
                            "_ZdaPvm"});
}

// Of one function alone.
struct Findings {
    std::string obstacle; // empty: there is none
    bool waits = false;
    SmallVector<const Function *, 4> callees; // which this file defines
};

std::string obstacle_at(const CallBase &call, Findings &findings) {
    if (is_bound(call))
        return "";
    if (call.isInlineAsm())
        return cast<InlineAsm>(call.getCalledOperand())->getAsmString().empty() ? ""
                                                                                : "assembly code";
    const Function *function = call.getCalledFunction();
    if (!function)
        return described(call);
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call)) {
        const auto id = intrinsic->getIntrinsicID();
        if (is_contained({Intrinsic::stacksave, Intrinsic::stackrestore, Intrinsic::trap}, id) ||
            is_only_noted(call))
            return "";
        if (function->getName().starts_with("llvm.x86.rd")) // fs, gs, the processor's number
            return described(call);
        return !is_contained({Intrinsic::threadlocal_address, Intrinsic::thread_pointer}, id) &&
                       (isa<MemIntrinsic>(call) || call.doesNotAccessMemory() ||
                        call.onlyAccessesArgMemory())
                   ? ""
                   : described(call);
    }
    const StringRef name = name_of_call(call);
    if (!function->isDeclaration() && name != "__clang_call_terminate") {
        findings.callees.push_back(function);
        return function->isInterposable() ? described(call) : "";
    }
    findings.waits |= may_suspend(name);
    return is_for_any_thread(name) ? "" : described(call);
}

// As fs on x86-64, which leads to what threads have for themselves.
bool is_in_a_segment(const Value &value) {
    return value.getType()->isPointerTy() && value.getType()->getPointerAddressSpace() != 0;
}

Findings look_at(const Function &function) {
    Findings findings;
    for (const auto sanitizer :
         {Attribute::SanitizeAddress, Attribute::SanitizeThread, Attribute::SanitizeMemory,
          Attribute::SanitizeHWAddress, Attribute::SafeStack})
        if (function.hasFnAttribute(sanitizer))
            findings.obstacle = "a sanitizer";
    for (const Instruction &instruction : instructions(function)) {
        for (const Use &operand : instruction.operands())
            if (is_in_a_segment(*operand)) {
                findings.obstacle = "memory that a processor's register leads to";
            } else if (is_of_a_thread(operand)) {
                const std::string name = name_of(operand);
                findings.obstacle = name.empty() ? "a variable of its thread"
                                                 : name + ", which each thread has for itself";
            }
        if (const auto *call = dyn_cast<CallBase>(&instruction); call && findings.obstacle.empty())
            findings.obstacle = obstacle_at(*call, findings);
        if (!findings.obstacle.empty())
            break;
    }
    return findings;
}

class Tasks {
  public:
    // Of a task's code, and all below it. What waits behind an obstacle is looked for, too: of
    // tasks that never wait nothing is said.
    Findings below(const Function &entry) {
        Findings all;
        SmallSetVector<const Function *, 16> reached;
        reached.insert(&entry);
        for (unsigned i = 0; i < reached.size(); ++i) {
            const Findings &one = of(*reached[i]);
            all.waits |= one.waits;
            if (all.obstacle.empty())
                all.obstacle = one.obstacle;
            reached.insert(one.callees.begin(), one.callees.end());
        }
        return all;
    }

  private:
    const Findings &of(const Function &function) {
        auto [at, fresh] = known_.try_emplace(&function);
        if (fresh)
            at->second = std::make_unique<Findings>(look_at(function));
        return *at->second;
    }

    DenseMap<const Function *, std::unique_ptr<Findings>> known_;
};

// The parts of a taskloop are made anew from their pattern.
bool is_of_taskloop(const CallBase &made) {
    return any_of(made.users(), [](const User *user) {
        const auto *call = dyn_cast<CallBase>(user);
        return call && name_of_call(*call).starts_with("__kmpc_taskloop");
    });
}

} // namespace

bool let_tasks_go_anywhere(Module &module, function_ref<Remarks(Function &)> remarks_of) {
    const Function *makes = module.getFunction("__kmpc_omp_task_alloc");
    if (!makes)
        return false;
    Tasks tasks;
    bool changed = false;
    for (const User *user : makes->users()) {
        auto *call = const_cast<CallBase *>(dyn_cast<CallBase>(user));
        if (!call || call->getCalledFunction() != makes || call->arg_size() <= kEntry ||
            is_of_taskloop(*call) || call->getFunction()->hasOptNone())
            continue;
        const auto *entry = dyn_cast<Function>(call->getArgOperand(kEntry)->stripPointerCasts());
        const auto *flags = dyn_cast<ConstantInt>(call->getArgOperand(kFlags));
        if (!entry || entry->isDeclaration() || entry->isInterposable() || !flags ||
            !(flags->getZExtValue() & kTied))
            continue;
        const Findings found = tasks.below(*entry);
        if (!found.waits)
            continue;
        Remarks remarks = remarks_of(*call->getFunction());
        if (!found.obstacle.empty()) {
            remarks.noted("any-thread", *call,
                          "the task goes on on its thread, for it uses " + found.obstacle);
            continue;
        }
        call->setArgOperand(
            kFlags, ConstantInt::get(flags->getType(), flags->getZExtValue() | kKnowsNoThread));
        remarks.noted("any-thread", *call,
                      "the task may go on on another thread: it uses nothing of its own one");
        changed = true;
    }
    return changed;
}

} // namespace sennit::pass
